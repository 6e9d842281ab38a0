#pragma once

#include <optional>
#include <string>
#include <string_view>

/// GPT-2's byte alphabet: every byte as a printable character. Pure functions: any thread.
namespace firsttoken::engine {

/// The character of a byte, as UTF-8: 0x41 is "A", 0x20 is "Ġ".
std::string_view alphabetCharacter(unsigned char byte);
/// The byte of a character; empty for one that is not in the alphabet.
std::optional<unsigned char> alphabetByte(char32_t character);

std::string toByteAlphabet(std::string_view bytes);
/// Characters outside the alphabet stand for their own UTF-8.
std::string fromByteAlphabet(std::string_view text);

}  // namespace firsttoken::engine
