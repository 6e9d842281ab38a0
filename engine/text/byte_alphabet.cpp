#include "engine/text/byte_alphabet.h"

#include <array>

#include "engine/text/utf8.h"

namespace firsttoken::engine {

namespace {

bool standsForItself(unsigned byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

/// The 68 other bytes are U+0100 and up, in their order.
constexpr std::size_t shiftedCount = 68;

struct Alphabet {
    std::array<std::string, 256> characters;
    std::array<unsigned char, shiftedCount> shifted{};

    Alphabet() {
        std::size_t next = 0;
        for (unsigned byte = 0; byte < 256; ++byte) {
            char32_t character = byte;
            if (!standsForItself(byte)) {
                character = 0x100 + static_cast<char32_t>(next);
                shifted[next++] = static_cast<unsigned char>(byte);
            }
            characters[byte] = toUtf8(character);
        }
    }
};

const Alphabet& alphabet() {
    static const Alphabet made;
    return made;
}

}  // namespace

std::string_view alphabetCharacter(unsigned char byte) { return alphabet().characters[byte]; }

std::optional<unsigned char> alphabetByte(char32_t character) {
    if (character < 0x100) {
        if (!standsForItself(character)) return std::nullopt;
        return static_cast<unsigned char>(character);
    }
    if (character - 0x100 >= shiftedCount) return std::nullopt;
    return alphabet().shifted[character - 0x100];
}

std::string toByteAlphabet(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size() + bytes.size() / 4);
    for (const char byte : bytes) out += alphabetCharacter(static_cast<unsigned char>(byte));
    return out;
}

std::string fromByteAlphabet(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decodeUtf8(text, at);
        const auto byte =
            character.state == Utf8State::Valid ? alphabetByte(character.codePoint) : std::optional<unsigned char>();
        if (byte) {
            out.push_back(static_cast<char>(*byte));
        } else {
            out.append(text, at, character.length);
        }
        at += character.length;
    }
    return out;
}

}  // namespace firsttoken::engine
