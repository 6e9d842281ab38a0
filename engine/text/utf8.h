#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// UTF-8 by the rules of the Unicode standard (no surrogates, no overlong forms). Pure functions: any thread.
namespace firsttoken::engine {

inline constexpr char32_t replacementCharacter = 0xFFFD;
inline constexpr std::string_view replacementUtf8 = "\xEF\xBF\xBD";

enum class Utf8State : std::uint8_t {
    Valid,       ///< a whole character
    Invalid,     ///< can never become a character; `length` bytes stand for one U+FFFD
    Incomplete,  ///< so far right, the text ends within the character
};

struct Utf8Character {
    char32_t codePoint = replacementCharacter;
    std::uint8_t length = 0;  ///< bytes, at least 1
    Utf8State state = Utf8State::Invalid;
};

/// The character at `at` (< text.size()). Invalid bytes are taken as maximal subparts: one U+FFFD for each longest
/// start of a character that was broken off, as the Unicode standard recommends.
Utf8Character decodeUtf8(std::string_view text, std::size_t at);

/// Surrogates and values over U+10FFFF become U+FFFD.
void appendUtf8(std::string& out, char32_t codePoint);
std::string toUtf8(char32_t codePoint);

bool isValidUtf8(std::string_view text);
/// The text with every maximal invalid subpart replaced by U+FFFD.
std::string sanitizeUtf8(std::string_view text);
/// Code points; invalid subparts count as one each.
std::size_t countCodePoints(std::string_view text);

/// True for a byte that starts no character (10xxxxxx).
inline bool isContinuationByte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace firsttoken::engine
