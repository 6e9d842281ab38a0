#include "engine/text/jinja/printing.h"

#include <array>
#include <charconv>
#include <cmath>

#include "engine/text/unicode/unicode.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine::jinja {

namespace {

std::string hex(std::uint32_t value, std::size_t width) {
    std::string out(width, '0');
    for (std::size_t i = width; i > 0; --i, value >>= 4U) out[i - 1] = "0123456789abcdef"[value & 0xFU];
    return out;
}

/// As Python's str.isprintable() decides.
bool isPrintable(char32_t c) {
    const CharacterClass characterClass = traitsOf(c).characterClass;
    if (characterClass == CharacterClass::Separator) return c == U' ';
    return characterClass != CharacterClass::Other;
}

std::string escaped(char32_t c) {
    switch (c) {
        case U'\n':
            return "\\n";
        case U'\r':
            return "\\r";
        case U'\t':
            return "\\t";
        case U'\\':
            return "\\\\";
        default:
            break;
    }
    if (c < 0x100) return "\\x" + hex(c, 2);
    return c < 0x10000 ? "\\u" + hex(c, 4) : "\\U" + hex(c, 8);
}

void appendQuoted(MarkedString& out, const MarkedString& text) {
    const bool singles = text.bytes().find('\'') != std::string::npos;
    const bool doubles = text.bytes().find('"') != std::string::npos;
    const char quote = singles && !doubles ? '"' : '\'';
    out.append(std::string_view(&quote, 1), true);
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decodeUtf8(text.view(), at);
        const char32_t c = character.codePoint;
        if (c == static_cast<char32_t>(quote)) {
            out.append("\\", text.trustedAt(at));
            out.append(text, at, 1);
        } else if (c == U'\\' || !isPrintable(c)) {
            out.append(escaped(c), text.trustedAt(at));
        } else {
            out.append(text, at, character.length);
        }
        at += character.length;
    }
    out.append(std::string_view(&quote, 1), true);
}

void appendRepresentation(MarkedString& out, const Value& value);

void appendItems(MarkedString& out, const std::vector<Value>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out.append(", ", true);
        appendRepresentation(out, items[i]);
    }
}

void appendDict(MarkedString& out, const Dict& dict) {
    out.append("{", true);
    for (std::size_t i = 0; i < dict.size(); ++i) {
        if (i > 0) out.append(", ", true);
        appendRepresentation(out, dict.items()[i].first);
        out.append(": ", true);
        appendRepresentation(out, dict.items()[i].second);
    }
    out.append("}", true);
}

void appendRange(MarkedString& out, const std::vector<Value>& items) {
    if (items.empty()) {
        out.append("range(0, 0)", true);
        return;
    }
    const std::int64_t first = *items.front().integer();
    const std::int64_t step = items.size() > 1 ? *items[1].integer() - first : 1;
    const std::int64_t stop = *items.back().integer() + (step > 0 ? 1 : -1);
    std::string text = "range(" + std::to_string(first) + ", " + std::to_string(stop);
    if (step != 1) text += ", " + std::to_string(step);
    out.append(text + ")", true);
}

void appendSequence(MarkedString& out, const Sequence& sequence) {
    const auto around = [&](std::string_view open, std::string_view close) {
        out.append(open, true);
        appendItems(out, sequence.items);
        out.append(close, true);
    };
    switch (sequence.kind) {
        case SequenceKind::List:
            return around("[", "]");
        case SequenceKind::Tuple:
            return around("(", sequence.items.size() == 1 ? ",)" : ")");
        case SequenceKind::Range:
            return appendRange(out, sequence.items);
        case SequenceKind::Keys:
            return around("dict_keys([", "])");
        case SequenceKind::Values:
            return around("dict_values([", "])");
        case SequenceKind::Items:
            return around("dict_items([", "])");
        case SequenceKind::Generator:
            return out.append("<generator>", true);
    }
}

void appendRepresentation(MarkedString& out, const Value& value) {
    if (const MarkedString* text = value.string()) {
        appendQuoted(out, *text);
    } else if (value.isUndefined()) {
        out.append("Undefined", true);
    } else if (value.isNone()) {
        out.append("None", true);
    } else if (const bool* held = value.boolean()) {
        out.append(*held ? "True" : "False", true);
    } else if (const auto* integer = value.integer()) {
        out.append(std::to_string(*integer), true);
    } else if (const auto* real = value.real()) {
        out.append(printReal(*real), true);
    } else if (const Sequence* sequence = value.sequence()) {
        appendSequence(out, *sequence);
    } else if (const Dict* dict = value.dict()) {
        appendDict(out, *dict);
    } else if (value.nameSpace() != nullptr) {
        // Its attributes may hold itself: they are not followed.
        out.append("<Namespace>", true);
    } else {
        out.append(value.object()->description(), true);
    }
}

}  // namespace

std::string printReal(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    std::array<char, 32> buffer{};
    const auto scientific =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
    const std::string text(buffer.data(), scientific.ptr);
    const std::size_t e = text.find('e');
    const int exponent = std::stoi(text.substr(e + 1));
    if (exponent < -4 || exponent >= 16) return text;
    // Room for 16 digits before the point and 20 behind it.
    const auto fixed = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
    std::string out(buffer.data(), fixed.ptr);
    if (out.find('.') == std::string::npos) out += ".0";
    return out;
}

MarkedString toRepresentation(const Value& value) {
    MarkedString out;
    appendRepresentation(out, value);
    return out;
}

MarkedString toText(const Value& value) {
    if (const MarkedString* text = value.string()) return *text;
    if (value.isUndefined()) return {};
    return toRepresentation(value);
}

}  // namespace firsttoken::engine::jinja
