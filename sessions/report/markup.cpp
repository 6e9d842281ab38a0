#include "sessions/report/markup.h"

#include <cassert>
#include <cstdint>

namespace firsttoken::sessions {

namespace {

/// A character and the bytes it took. No UTF-8 (overlong forms and surrogates too): U+FFFD and one byte.
struct Character {
    std::uint32_t code = 0xFFFD;
    std::size_t bytes = 1;
    bool valid = false;
};

Character characterAt(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    const std::uint32_t lead = byte(at);
    if (lead < 0x80) return {lead, 1, true};
    const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() - at < bytes) return {};
    std::uint32_t code = lead & (0xFFU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(at + i) & 0xC0U) != 0x80U) return {};
        code = code << 6U | (byte(at + i) & 0x3FU);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
    return {code, bytes, true};
}

bool mayStand(std::uint32_t code) {
    if (code == '\t' || code == '\n') return true;
    if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) return false;
    return (code & 0xFFFEU) != 0xFFFEU && !(code >= 0xFDD0 && code <= 0xFDEF);
}

constexpr std::string_view replacement = "\xEF\xBF\xBD";

void appendEscaped(std::string& out, std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const Character character = characterAt(text, at);
        if (!character.valid) {
            out += replacement;
        } else if (character.code == '&') {
            out += "&amp;";
        } else if (character.code == '<') {
            out += "&lt;";
        } else if (character.code == '>') {
            out += "&gt;";
        } else if (character.code == '"') {
            out += "&quot;";
        } else if (character.code == '\'') {
            out += "&#39;";
        } else if (mayStand(character.code)) {
            out += text.substr(at, character.bytes);
        }
        at += character.bytes;
    }
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    appendEscaped(out, text);
    return out;
}

std::string shortened(std::string_view text, std::size_t characters) {
    std::size_t at = 0;
    for (std::size_t count = 0; at < text.size(); ++count) {
        if (count == characters) return std::string(text.substr(0, at)) + "…";
        at += characterAt(text, at).bytes;
    }
    return std::string(text);
}

void Markup::start(std::string_view name, Attributes attributes) {
    m_text += '<';
    m_text += name;
    for (const auto& [key, value] : attributes) {
        m_text += ' ';
        m_text += key;
        m_text += "=\"";
        appendEscaped(m_text, value);
        m_text += '"';
    }
}

Markup& Markup::open(std::string_view name, Attributes attributes) {
    start(name, attributes);
    m_text += '>';
    m_open.emplace_back(name);
    return *this;
}

Markup& Markup::close() {
    assert(!m_open.empty());
    m_text += "</" + m_open.back() + '>';
    m_open.pop_back();
    if (m_open.size() < 6) m_text += '\n';  // lines of a size that an editor likes
    return *this;
}

Markup& Markup::leaf(std::string_view name, Attributes attributes) {
    start(name, attributes);
    m_text += "/>";
    return *this;
}

Markup& Markup::text(std::string_view text) {
    appendEscaped(m_text, text);
    return *this;
}

Markup& Markup::element(std::string_view name, std::string_view text, Attributes attributes) {
    start(name, attributes);
    m_text += '>';
    appendEscaped(m_text, text);
    m_text += "</";
    m_text += name;
    m_text += '>';
    return *this;
}

Markup& Markup::verbatim(std::string_view text) {
    m_text += text;
    return *this;
}

std::string Markup::take() {
    assert(m_open.empty());
    return std::exchange(m_text, {});
}

}  // namespace firsttoken::sessions
