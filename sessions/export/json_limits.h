#pragma once

#include <cstddef>
#include <string_view>

namespace firsttoken::sessions {

/// What a JSON text may be before it is made into a tree: its keys are looked up one after the other.
struct JsonLimits {
    std::size_t depth = 32;
    std::size_t keysOfObject = 1024;
};

enum class JsonVerdict { Fine, Malformed, OverLimit };
struct JsonCheck {
    JsonVerdict verdict = JsonVerdict::Fine;
    std::size_t byte = 0;  ///< for Malformed: where, from 1
};
/// Whether the text is one JSON value within the limits. Reads it once and keeps nothing.
JsonCheck checkJson(std::string_view text, const JsonLimits& limits);

}  // namespace firsttoken::sessions
