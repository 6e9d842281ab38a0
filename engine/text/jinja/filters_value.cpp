#include <charconv>
#include <cmath>

#include "engine/text/jinja/arguments.h"
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/json.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/string_operations.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

Value defaultFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("default", std::move(arguments), {"default_value", "boolean"});
    const bool replaces = input.isUndefined() || (list.trueOr(1, false) && !isTrue(input));
    return replaces ? list.orElse(0, Value::text("")) : input;
}

Value itemsFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("items", std::move(arguments), {});
    std::vector<Value> items;
    if (!input.isUndefined()) {
        if (input.dict() == nullptr) throw TemplateError("Can only get item pairs from a mapping.");
        for (const auto& [key, value] : input.dict()->items()) items.push_back(Value::tuple({key, value}));
    }
    return Value::generator(std::move(items));
}

Value attrFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("attr", std::move(arguments), {"name"}, 1);
    // A dict has methods here, but its keys are no attributes.
    if (input.dict() != nullptr && input.dict()->find(list.string(0).view()) != nullptr &&
        findContainerMethod(input, list.string(0).view()) == nullptr) {
        return Value::undefined("'dict object' has no attribute '" + list.string(0).bytes() + "'");
    }
    return interpreter.attribute(input, list.string(0).view());
}

Value absFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("abs", std::move(arguments), {});
    if (!input.asNumber()) throw TemplateError("bad operand type for abs(): '" + std::string(typeName(input)) + "'");
    return *input.asNumber() < 0 ? negate(input) : positive(input);
}

std::string_view trimmed(const Value& input, MarkedString& holder) {
    holder = strip(*input.string(), Side::Both);
    return holder.view();
}

std::optional<double> readReal(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::int64_t> readInteger(std::string_view text, int base) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const char mark = text.size() > 2 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0';
    const int marked = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    if (marked != 0 && (base == 0 || base == marked)) {
        text.remove_prefix(2);
        base = marked;
    }
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base == 0 ? 10 : base);
    if (text.empty() || text[0] == '-' || read.ec != std::errc() || read.ptr != text.data() + text.size()) {
        return std::nullopt;
    }
    return negative ? -value : value;
}

std::optional<std::int64_t> truncated(double value) {
    if (!(std::abs(value) < 9.2e18)) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

Value intFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("int", std::move(arguments), {"default", "base"});
    requireDefined(input);
    const std::int64_t base = list.integerOr(1, 10);
    if (base != 0 && (base < 2 || base > 36)) throw TemplateError("int() base must be >= 2 and <= 36, or 0");
    std::optional<std::int64_t> value = input.asInteger();
    if (!value && input.real() != nullptr) value = truncated(*input.real());
    if (!value && input.string() != nullptr) {
        MarkedString holder;
        const std::string_view text = trimmed(input, holder);
        value = readInteger(text, static_cast<int>(base));
        if (!value) {
            if (const auto real = readReal(text)) value = truncated(*real);
        }
    }
    return value ? Value(*value) : list.orElse(0, Value(std::int64_t{0}));
}

Value floatFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("float", std::move(arguments), {"default"});
    requireDefined(input);
    std::optional<double> value = input.asNumber();
    if (!value && input.string() != nullptr) {
        MarkedString holder;
        value = readReal(trimmed(input, holder));
    }
    return value ? Value(*value) : list.orElse(0, Value(0.0));
}

/// To a multiple of 10 to the `zeros`, half to even.
Value roundInteger(std::int64_t value, std::int64_t zeros) {
    if (zeros > 18) return Value(std::int64_t{0});
    std::int64_t unit = 1;
    for (std::int64_t i = 0; i < zeros; ++i) unit *= 10;
    const std::int64_t rest = ((value % unit) + unit) % unit;
    const std::int64_t below = value / unit - (value % unit < 0 ? 1 : 0);
    const bool up = rest > unit - rest || (rest == unit - rest && below % 2 != 0);
    return arithmetic(Arithmetic::Multiply, Value(below + (up ? 1 : 0)), Value(unit));
}

Value roundFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("round", std::move(arguments), {"precision", "method"});
    const std::string method = list.stringOr(1, "common");
    const std::int64_t precision = list.integerOr(0, 0);
    if (!input.asNumber()) {
        throw TemplateError("type " + std::string(typeName(input)) + " doesn't define __round__ method");
    }
    if (method != "common" && method != "ceil" && method != "floor") {
        throw TemplateError("method must be common, ceil or floor");
    }
    if (method == "common" && input.asInteger() && precision >= 0) return positive(input);
    const double value = *input.asNumber();
    if (method == "common" && input.asInteger()) return roundInteger(*input.asInteger(), -precision);
    const double scale = std::pow(10.0, static_cast<double>(precision));
    if (!std::isfinite(scale) || scale == 0) return Value(value);
    if (method == "ceil") return Value(std::ceil(value * scale) / scale);
    if (method == "floor") return Value(std::floor(value * scale) / scale);
    // Python rounds the exact value, half to even: as printing with that precision does.
    if (precision >= 0 && precision < 300 && std::isfinite(value)) {
        std::string text(700, '\0');
        const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed,
                                       static_cast<int>(precision));
        double rounded = 0;
        std::from_chars(text.data(), end.ptr, rounded);
        return Value(rounded);
    }
    return Value(std::nearbyint(value * scale) / scale);
}

/// As chat templates expect it: json.dumps() without ASCII escapes.
Value toJsonFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("tojson", std::move(arguments), {"ensure_ascii", "indent", "separators", "sort_keys"});
    const Value none;
    const Value& indent = list.has(1) ? list[1] : none;
    JsonStyle style;
    style.ensureAscii = list.trueOr(0, false);
    style.sortKeys = list.trueOr(3, false);
    if (indent.string() != nullptr) {
        style.indent = indent.string()->bytes();
    } else if (const auto width = indent.asInteger()) {
        if (*width > 100) throw TemplateError("tojson: the indent is too large (100)");
        style.indent = std::string(static_cast<std::size_t>(std::max<std::int64_t>(0, *width)), ' ');
    }
    if (list.has(2) && !list[2].isNone()) {
        const Sequence* pair = list[2].sequence();
        if (pair == nullptr || pair->items.size() != 2 || pair->items[0].string() == nullptr ||
            pair->items[1].string() == nullptr) {
            throw TemplateError("tojson: separators must be a pair of strings");
        }
        style.itemSeparator = pair->items[0].string()->bytes();
        style.keySeparator = pair->items[1].string()->bytes();
    }
    return Value(writeJson(input, style));
}

constexpr NamedFilter filters[] = {{"default", defaultFilter}, {"d", defaultFilter},   {"items", itemsFilter},
                                   {"attr", attrFilter},       {"abs", absFilter},     {"int", intFilter},
                                   {"float", floatFilter},     {"round", roundFilter}, {"tojson", toJsonFilter}};

}  // namespace

std::span<const NamedFilter> valueFilters() { return filters; }

}  // namespace firsttoken::engine::jinja
