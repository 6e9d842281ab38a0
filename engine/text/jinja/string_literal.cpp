#include "engine/text/jinja/string_literal.h"

#include <cstdint>
#include <optional>

#include "engine/text/utf8.h"

namespace firsttoken::engine::jinja {

namespace {

std::optional<std::uint32_t> digitOf(char c) {
    if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<std::uint32_t>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<std::uint32_t>(c - 'A' + 10);
    return std::nullopt;
}

/// Reads exactly `count` digits of base 16 from `at`.
std::optional<std::uint32_t> hexNumber(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + count; ++i) {
        const auto digit = digitOf(text[i]);
        if (!digit) return std::nullopt;
        value = value * 16 + *digit;
    }
    return value;
}

char simpleEscape(char c) {
    switch (c) {
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'r':
            return '\r';
        case 'a':
            return '\a';
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'v':
            return '\v';
        case '\\':
        case '\'':
        case '"':
            return c;
        default:
            return '\0';
    }
}

}  // namespace

std::string resolveEscapes(std::string_view literal, std::string& out) {
    for (std::size_t at = 0; at < literal.size(); ++at) {
        if (literal[at] != '\\' || at + 1 == literal.size()) {
            out.push_back(literal[at]);
            continue;
        }
        const char kind = literal[++at];
        if (const char simple = simpleEscape(kind); simple != '\0') {
            out.push_back(simple);
        } else if (kind == '\n') {
            continue;  // a line that goes on
        } else if (kind == 'x' || kind == 'u' || kind == 'U') {
            const std::size_t count = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
            auto value = hexNumber(literal, at + 1, count);
            if (!value || *value > 0x10FFFF)
                return std::string("the escape \\") + kind + " is truncated or no character";
            at += count;
            // Two escapes of a surrogate pair are one character.
            if (kind == 'u' && *value >= 0xD800 && *value < 0xDC00 && literal.substr(at + 1).starts_with("\\u")) {
                const auto low = hexNumber(literal, at + 3, 4);
                if (low && *low >= 0xDC00 && *low < 0xE000) {
                    value = 0x10000 + ((*value - 0xD800) << 10U) + (*low - 0xDC00);
                    at += 6;
                }
            }
            appendUtf8(out, *value);
        } else if (kind >= '0' && kind <= '7') {
            std::uint32_t value = 0;
            std::size_t end = at;
            while (end < literal.size() && end < at + 3 && literal[end] >= '0' && literal[end] <= '7') {
                value = value * 8 + static_cast<std::uint32_t>(literal[end++] - '0');
            }
            appendUtf8(out, value);
            at = end - 1;
        } else if (kind == 'N') {
            return "the escape \\N{…} is not supported";
        } else {
            out.push_back('\\');
            out.push_back(kind);
        }
    }
    return {};
}

}  // namespace firsttoken::engine::jinja
