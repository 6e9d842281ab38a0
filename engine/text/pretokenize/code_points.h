#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace firsttoken::engine {

/// Classes that pre-tokenizer expressions speak of; a code point has several.
using CodePointFlags = std::uint16_t;
inline constexpr CodePointFlags letterFlag = 1;       ///< \p{L}
inline constexpr CodePointFlags numberFlag = 2;       ///< \p{N}
inline constexpr CodePointFlags markFlag = 4;         ///< \p{M}
inline constexpr CodePointFlags punctuationFlag = 8;  ///< \p{P}
inline constexpr CodePointFlags symbolFlag = 16;      ///< \p{S}
inline constexpr CodePointFlags spaceFlag = 32;       ///< \s: White_Space
inline constexpr CodePointFlags newlineFlag = 64;     ///< [\r\n]
inline constexpr CodePointFlags upperFlag = 128;      ///< [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
inline constexpr CodePointFlags lowerFlag = 256;      ///< [\p{Ll}\p{Lm}\p{Lo}\p{M}]
inline constexpr CodePointFlags decimalFlag = 512;    ///< \d: \p{Nd}

/// A text as code points, with their classes and the byte at which each begins. Invalid UTF-8 is one U+FFFD a
/// maximal subpart; callers that need their bytes back clean the text first.
struct CodePoints {
    explicit CodePoints(std::string_view text);
    std::size_t size() const { return points.size(); }

    std::vector<char32_t> points;
    std::vector<CodePointFlags> flags;
    std::vector<std::size_t> offsets;  ///< size() + 1 of them
};

/// A piece of the text: code points begin … end − 1. Expressions see nothing outside it.
struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool operator==(const Piece&) const = default;
};

}  // namespace firsttoken::engine
