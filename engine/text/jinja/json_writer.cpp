#include <algorithm>
#include <cmath>

#include "engine/text/jinja/json.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/printing.h"
#include "engine/text/jinja/template_error.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine::jinja {

namespace {

std::string unicodeEscape(std::uint32_t unit) {
    std::string out = "\\u0000";
    for (std::size_t i = out.size(); i > 2; --i, unit >>= 4U) out[i - 1] = "0123456789abcdef"[unit & 0xFU];
    return out;
}

std::string escaped(char32_t c) {
    switch (c) {
        case U'"':
            return "\\\"";
        case U'\\':
            return "\\\\";
        case U'\n':
            return "\\n";
        case U'\r':
            return "\\r";
        case U'\t':
            return "\\t";
        case U'\b':
            return "\\b";
        case U'\f':
            return "\\f";
        default:
            break;
    }
    if (c < 0x10000) return unicodeEscape(c);
    const std::uint32_t rest = c - 0x10000;
    return unicodeEscape(0xD800 + (rest >> 10U)) + unicodeEscape(0xDC00 + (rest & 0x3FFU));
}

class Writer {
public:
    explicit Writer(const JsonStyle& style) : m_style(style) {
        m_itemSeparator = style.itemSeparator.value_or(style.indent ? "," : ", ");
        m_keySeparator = style.keySeparator.value_or(": ");
    }

    void write(const Value& value, std::size_t level) {
        if (const MarkedString* text = value.string()) {
            writeString(*text);
        } else if (const Sequence* sequence = value.sequence()) {
            writeSequence(value, *sequence, level);
        } else if (const Dict* dict = value.dict()) {
            writeDict(*dict, level);
        } else {
            plain(scalar(value));
        }
    }

    MarkedString take() { return std::move(m_out); }

private:
    void plain(std::string_view text) { m_out.append(text, true); }

    static std::string scalar(const Value& value) {
        if (value.isNone()) return "null";
        if (const bool* held = value.boolean()) return *held ? "true" : "false";
        if (const auto* held = value.integer()) return std::to_string(*held);
        if (const auto* held = value.real()) {
            if (std::isnan(*held)) return "NaN";
            if (std::isinf(*held)) return *held < 0 ? "-Infinity" : "Infinity";
            return printReal(*held);
        }
        throw TemplateError("Object of type " + std::string(typeName(value)) + " is not JSON serializable");
    }

    void writeString(const MarkedString& text) {
        plain("\"");
        for (std::size_t at = 0; at < text.size();) {
            const Utf8Character character = decodeUtf8(text.view(), at);
            const char32_t c = character.codePoint;
            const bool escape = c == U'"' || c == U'\\' || c < 0x20 || (m_style.ensureAscii && c > 0x7E);
            if (escape) {
                m_out.append(escaped(c), text.trustedAt(at));
            } else {
                m_out.append(text, at, character.length);
            }
            at += character.length;
        }
        plain("\"");
    }

    void newLine(std::size_t level) {
        if (!m_style.indent) return;
        plain("\n");
        for (std::size_t i = 0; i < level; ++i) plain(*m_style.indent);
    }

    void writeSequence(const Value& value, const Sequence& sequence, std::size_t level) {
        if (sequence.kind != SequenceKind::List && sequence.kind != SequenceKind::Tuple) plain(scalar(value));
        plain("[");
        for (std::size_t i = 0; i < sequence.items.size(); ++i) {
            if (i > 0) plain(m_itemSeparator);
            newLine(level + 1);
            write(sequence.items[i], level + 1);
        }
        if (!sequence.items.empty()) newLine(level);
        plain("]");
    }

    void writeDict(const Dict& dict, std::size_t level) {
        std::vector<std::pair<Value, Value>> items = dict.items();
        if (m_style.sortKeys) {
            std::stable_sort(items.begin(), items.end(),
                             [](const auto& a, const auto& b) { return order(a.first, b.first) < 0; });
        }
        plain("{");
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i > 0) plain(m_itemSeparator);
            newLine(level + 1);
            writeKey(items[i].first);
            plain(m_keySeparator);
            write(items[i].second, level + 1);
        }
        if (!items.empty()) newLine(level);
        plain("}");
    }

    void writeKey(const Value& key) {
        if (const MarkedString* text = key.string()) return writeString(*text);
        if (key.sequence() != nullptr || key.object() != nullptr || key.nameSpace() != nullptr || key.isUndefined()) {
            throw TemplateError("keys must be str, int, float, bool or None, not " + std::string(typeName(key)));
        }
        writeString(trusted(scalar(key)));
    }

    const JsonStyle& m_style;
    std::string m_itemSeparator;
    std::string m_keySeparator;
    MarkedString m_out;
};

}  // namespace

MarkedString writeJson(const Value& value, const JsonStyle& style) {
    Writer writer(style);
    writer.write(value, 0);
    return writer.take();
}

}  // namespace firsttoken::engine::jinja
