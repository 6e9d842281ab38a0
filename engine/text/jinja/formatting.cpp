#include "engine/text/jinja/formatting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/printing.h"
#include "engine/text/jinja/template_error.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine::jinja {

namespace {

constexpr std::size_t maxWidth = 10'000;

/// One %-directive.
struct Directive {
    std::optional<std::string> name;
    bool left = false, plus = false, space = false, zero = false, alternate = false;
    std::size_t width = 0;
    std::optional<std::size_t> precision;
    char type = 's';
};

class PercentFormatter {
public:
    PercentFormatter(const MarkedString& pattern, const Value& values) : m_pattern(pattern), m_values(values) {}

    MarkedString run() {
        const std::string_view text = m_pattern.view();
        while (m_at < text.size()) {
            const std::size_t percent = std::min(text.find('%', m_at), text.size());
            m_out.append(m_pattern, m_at, percent - m_at);
            m_at = percent;
            if (m_at < text.size()) directive();
        }
        const Sequence* tuple = tupleOf(m_values);
        const bool mapping = m_values.dict() != nullptr;
        const bool allUsed = tuple != nullptr ? m_next == tuple->items.size() : (m_next > 0 || mapping || m_named);
        if (!allUsed) throw TemplateError("not all arguments converted during string formatting");
        return std::move(m_out);
    }

private:
    static const Sequence* tupleOf(const Value& value) {
        const Sequence* held = value.sequence();
        return held != nullptr && held->kind == SequenceKind::Tuple ? held : nullptr;
    }

    char next() {
        if (m_at >= m_pattern.size()) throw TemplateError("incomplete format");
        return m_pattern.bytes()[m_at++];
    }

    std::size_t number(char& c) {
        std::size_t value = 0;
        for (; c >= '0' && c <= '9'; c = next()) value = value * 10 + static_cast<std::size_t>(c - '0');
        if (value > maxWidth) throw TemplateError("a format's width is too large");
        return value;
    }

    void directive() {
        ++m_at;
        Directive d;
        char c = next();
        if (c == '(') {
            const std::size_t close = m_pattern.bytes().find(')', m_at);
            if (close == std::string::npos) throw TemplateError("incomplete format key");
            d.name = m_pattern.bytes().substr(m_at, close - m_at);
            m_at = close + 1;
            c = next();
        }
        for (bool flags = true; flags;) {
            switch (c) {
                case '-':
                    d.left = true;
                    break;
                case '+':
                    d.plus = true;
                    break;
                case ' ':
                    d.space = true;
                    break;
                case '0':
                    d.zero = true;
                    break;
                case '#':
                    d.alternate = true;
                    break;
                default:
                    flags = false;
                    continue;
            }
            c = next();
        }
        d.width = number(c);
        if (c == '.') {
            c = next();
            d.precision = number(c);
        }
        d.type = c;
        if (c == '%') {
            m_out.append("%", true);
        } else {
            pad(d, convert(d, argument(d)));
        }
    }

    const Value& argument(const Directive& d) {
        if (d.name) {
            if (m_values.dict() == nullptr) throw TemplateError("format requires a mapping");
            const Value* found = m_values.dict()->find(*d.name);
            if (found == nullptr) throw TemplateError("'" + *d.name + "'");
            m_named = true;
            return *found;
        }
        if (const Sequence* tuple = tupleOf(m_values)) {
            if (m_next >= tuple->items.size()) throw TemplateError("not enough arguments for format string");
            return tuple->items[m_next++];
        }
        if (m_next++ > 0) throw TemplateError("not enough arguments for format string");
        return m_values;
    }

    MarkedString convert(const Directive& d, const Value& value) const {
        switch (d.type) {
            case 's':
                return cutTo(d, toText(value));
            case 'r':
                return cutTo(d, toRepresentation(value));
            case 'd':
            case 'i':
            case 'u':
            case 'x':
            case 'X':
            case 'o':
                return integer(d, value);
            case 'f':
            case 'F':
            case 'e':
            case 'E':
            case 'g':
            case 'G':
                return real(d, value);
            default:
                break;
        }
        throw TemplateError("unsupported format character '" + std::string(1, d.type) + "'");
    }

    static MarkedString cutTo(const Directive& d, MarkedString text) {
        if (!d.precision) return text;
        std::size_t at = 0;
        for (std::size_t n = 0; n < *d.precision && at < text.size(); ++n) at += decodeUtf8(text.view(), at).length;
        return text.cut(0, at);
    }

    MarkedString integer(const Directive& d, const Value& value) const {
        auto held = value.asInteger();
        if (!held && value.real() != nullptr && std::abs(*value.real()) < 9e18) {
            held = static_cast<std::int64_t>(*value.real());
        }
        if (!held) {
            throw TemplateError("%" + std::string(1, d.type) + " format: a real number is required, not " +
                                std::string(typeName(value)));
        }
        const std::uint64_t magnitude =
            *held < 0 ? 0 - static_cast<std::uint64_t>(*held) : static_cast<std::uint64_t>(*held);
        std::array<char, 32> buffer{};
        const char* pattern = d.type == 'x' ? "%lx" : d.type == 'X' ? "%lX" : d.type == 'o' ? "%lo" : "%lu";
        std::snprintf(buffer.data(), buffer.size(), pattern, static_cast<unsigned long>(magnitude));
        std::string digits = buffer.data();
        if (d.precision && digits.size() < *d.precision) digits.insert(0, *d.precision - digits.size(), '0');
        return trusted(signOf(d, *held < 0) + digits);
    }

    MarkedString real(const Directive& d, const Value& value) const {
        const auto held = value.asNumber();
        if (!held) throw TemplateError("must be real number, not " + std::string(typeName(value)));
        const std::string pattern = std::string("%.*") + d.type;
        const int precision = static_cast<int>(std::min<std::size_t>(d.precision.value_or(6), 300));
        std::array<char, 700> buffer{};
        std::snprintf(buffer.data(), buffer.size(), pattern.c_str(), precision, std::abs(*held));
        return trusted(signOf(d, std::signbit(*held)) + buffer.data());
    }

    static std::string signOf(const Directive& d, bool negative) {
        return negative ? "-" : d.plus ? "+" : d.space ? " " : "";
    }

    void pad(const Directive& d, const MarkedString& text) {
        const std::size_t length = countCodePoints(text.view());
        const std::size_t missing = d.width > length ? d.width - length : 0;
        const bool numeric = d.type != 's' && d.type != 'r';
        if (d.left) {
            m_out.append(text);
            m_out.append(std::string(missing, ' '), true);
        } else if (d.zero && numeric) {
            const bool sign = !text.empty() && std::string_view("+- ").find(text.bytes()[0]) != std::string_view::npos;
            m_out.append(text, 0, sign ? 1 : 0);
            m_out.append(std::string(missing, '0'), true);
            m_out.append(text, sign ? 1 : 0, text.size());
        } else {
            m_out.append(std::string(missing, ' '), true);
            m_out.append(text);
        }
    }

    const MarkedString& m_pattern;
    const Value& m_values;
    MarkedString m_out;
    std::size_t m_at = 0;
    std::size_t m_next = 0;
    bool m_named = false;
};

/// The value that a field of braceFormat() names.
const Value& fieldValue(const std::string& name, std::size_t& automatic, const Arguments& arguments) {
    const bool digits = std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) {
        for (const auto& [key, value] : arguments.named) {
            if (key == name) return value;
        }
        throw TemplateError("format(): there is no argument '" + name + "'");
    }
    if (name.size() > 6) throw TemplateError("format(): index out of range");
    const std::size_t index = name.empty() ? automatic++ : static_cast<std::size_t>(std::stoul(name));
    if (index >= arguments.positional.size()) {
        throw TemplateError("Replacement index " + std::to_string(index) + " out of range for positional args tuple");
    }
    return arguments.positional[index];
}

}  // namespace

MarkedString percentFormat(const MarkedString& pattern, const Value& values) {
    return PercentFormatter(pattern, values).run();
}

MarkedString braceFormat(const MarkedString& pattern, const Arguments& arguments) {
    MarkedString out;
    std::size_t automatic = 0;
    const std::string& text = pattern.bytes();
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
            out.append(pattern, at, 1);
            at += 2;
        } else if (c == '}') {
            throw TemplateError("Single '}' encountered in format string");
        } else if (c != '{') {
            const std::size_t end = std::min(text.find_first_of("{}", at), text.size());
            out.append(pattern, at, end - at);
            at = end;
        } else {
            const std::size_t close = text.find('}', at);
            if (close == std::string::npos) throw TemplateError("expected '}' before end of string");
            std::string field = text.substr(at + 1, close - at - 1);
            bool representation = false;
            if (field.ends_with("!r") || field.ends_with("!s")) {
                representation = field.back() == 'r';
                field.resize(field.size() - 2);
            }
            if (field.find_first_of(".[:!") != std::string::npos) {
                throw TemplateError("format(): only plain fields like {}, {0} and {name} are supported");
            }
            const Value& value = fieldValue(field, automatic, arguments);
            out.append(representation ? toRepresentation(value) : toText(value));
            at = close + 1;
        }
    }
    return out;
}

}  // namespace firsttoken::engine::jinja
