#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/text/jinja/marked_string.h"

/// Text as Python sees it: by code point, with its notion of white space.
namespace firsttoken::engine::jinja {

/// str.isspace() of one character: White_Space and U+001C … U+001F.
bool isSpace(char32_t codePoint);
/// Bytes of white space at the start, at the end.
std::size_t leadingSpace(std::string_view text);
std::size_t trailingSpace(std::string_view text);

/// The byte at which each code point begins, and the size at the end.
std::vector<std::size_t> characterOffsets(std::string_view text);

}  // namespace firsttoken::engine::jinja
