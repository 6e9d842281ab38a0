#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "engine/result.h"

namespace firsttoken::sessions {

/// Takes bytes in order; an error ends the reading.
using ByteSink = std::function<engine::Status(const char* bytes, std::size_t count)>;

/// Hands one member of a wheel (a zip archive) to `sink`, checking its size beforehand and its CRC at the end.
/// Nothing is written by name, so an archive cannot choose where bytes go.
/// Errors: BadInput (no archive, no such member, another size, damaged), Cancelled, and the sink's own.
engine::Status readWheelMember(const std::string& wheel, const std::string& member, std::uint64_t bytes,
                               const ByteSink& sink, std::stop_token stop);

}  // namespace firsttoken::sessions
