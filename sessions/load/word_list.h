#pragma once

#include <span>
#include <string_view>

namespace firsttoken::sessions {

/// Ordinary English words, lower case, all different. Never reorder: stored seeds mean these words.
std::span<const std::string_view> promptWords();

}  // namespace firsttoken::sessions
