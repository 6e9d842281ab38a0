#include "engine/text/utf8.h"

namespace firsttoken::engine {

namespace {

unsigned byteAt(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

struct Lead {
    unsigned length = 0;  ///< 0: no lead byte
    unsigned secondLow = 0x80;
    unsigned secondHigh = 0xBF;
};

/// The standard's table 3-7: the second byte's range excludes overlong forms, surrogates and > U+10FFFF.
Lead leadOf(unsigned byte) {
    if (byte >= 0xC2 && byte <= 0xDF) return {2};
    if (byte == 0xE0) return {3, 0xA0, 0xBF};
    if (byte == 0xED) return {3, 0x80, 0x9F};
    if (byte >= 0xE1 && byte <= 0xEF) return {3};
    if (byte == 0xF0) return {4, 0x90, 0xBF};
    if (byte == 0xF4) return {4, 0x80, 0x8F};
    if (byte >= 0xF1 && byte <= 0xF3) return {4};
    return {};
}

}  // namespace

Utf8Character decodeUtf8(std::string_view text, std::size_t at) {
    const unsigned first = byteAt(text, at);
    if (first < 0x80) return {first, 1, Utf8State::Valid};
    const Lead lead = leadOf(first);
    if (lead.length == 0) return {replacementCharacter, 1, Utf8State::Invalid};
    char32_t codePoint = first & (0x7FU >> lead.length);
    for (unsigned i = 1; i < lead.length; ++i) {
        const auto taken = static_cast<std::uint8_t>(i);
        if (at + i >= text.size()) return {replacementCharacter, taken, Utf8State::Incomplete};
        const unsigned byte = byteAt(text, at + i);
        const unsigned low = i == 1 ? lead.secondLow : 0x80;
        const unsigned high = i == 1 ? lead.secondHigh : 0xBF;
        if (byte < low || byte > high) return {replacementCharacter, taken, Utf8State::Invalid};
        codePoint = (codePoint << 6U) | (byte & 0x3FU);
    }
    return {codePoint, static_cast<std::uint8_t>(lead.length), Utf8State::Valid};
}

void appendUtf8(std::string& out, char32_t codePoint) {
    const auto c = static_cast<std::uint32_t>(codePoint);
    const auto push = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (c < 0x80) {
        push(c);
    } else if (c < 0x800) {
        push(0xC0U | (c >> 6U));
        push(0x80U | (c & 0x3FU));
    } else if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
        out += replacementUtf8;
    } else if (c < 0x10000) {
        push(0xE0U | (c >> 12U));
        push(0x80U | ((c >> 6U) & 0x3FU));
        push(0x80U | (c & 0x3FU));
    } else {
        push(0xF0U | (c >> 18U));
        push(0x80U | ((c >> 12U) & 0x3FU));
        push(0x80U | ((c >> 6U) & 0x3FU));
        push(0x80U | (c & 0x3FU));
    }
}

std::string toUtf8(char32_t codePoint) {
    std::string out;
    appendUtf8(out, codePoint);
    return out;
}

bool isValidUtf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decodeUtf8(text, at);
        if (character.state != Utf8State::Valid) return false;
        at += character.length;
    }
    return true;
}

std::string sanitizeUtf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decodeUtf8(text, at);
        if (character.state == Utf8State::Valid) {
            out.append(text, at, character.length);
        } else {
            out += replacementUtf8;
        }
        at += character.length;
    }
    return out;
}

std::size_t countCodePoints(std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); ++count) at += decodeUtf8(text, at).length;
    return count;
}

}  // namespace firsttoken::engine
