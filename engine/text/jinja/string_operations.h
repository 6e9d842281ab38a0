#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/jinja/marked_string.h"
#include "engine/text/unicode/unicode.h"

/// Python's operations on text that methods and filters share. Marks follow the bytes.
namespace firsttoken::engine::jinja {

enum class Side { Left, Right, Both };

/// str.strip() and its like; `characters` empty: white space.
MarkedString strip(const MarkedString& text, Side side, std::optional<std::string_view> characters = std::nullopt);
/// str.split(); `most` < 0: no limit. `separator` empty: runs of white space.
std::vector<MarkedString> split(const MarkedString& text, std::optional<std::string_view> separator, std::int64_t most,
                                bool fromRight);
std::vector<MarkedString> splitLines(const MarkedString& text, bool keepEnds);
/// str.replace(); `most` < 0: all.
MarkedString replace(const MarkedString& text, std::string_view old, const MarkedString& with, std::int64_t most);
MarkedString toCase(const MarkedString& text, LetterCase to);
/// The first character in title case, the others in lower case.
MarkedString capitalize(const MarkedString& text);
/// str.title(): every letter that follows none in title case.
MarkedString titleWords(const MarkedString& text);
MarkedString swapCase(const MarkedString& text);
/// Fills up with `fill` to `width` characters.
MarkedString pad(const MarkedString& text, std::int64_t width, Side filled, std::string_view fill = " ");
/// Joins parts with a separator between them.
MarkedString join(const std::vector<MarkedString>& parts, const MarkedString& separator);

}  // namespace firsttoken::engine::jinja
