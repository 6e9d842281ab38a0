#include <algorithm>
#include <cmath>

#include "engine/text/jinja/formatting.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

std::string_view symbolOf(Arithmetic how) {
    switch (how) {
        case Arithmetic::Add:
            return "+";
        case Arithmetic::Subtract:
            return "-";
        case Arithmetic::Multiply:
            return "*";
        case Arithmetic::Divide:
            return "/";
        case Arithmetic::FloorDivide:
            return "//";
        case Arithmetic::Modulo:
            return "%";
        case Arithmetic::Power:
            break;
    }
    return "** or pow()";
}

[[noreturn]] void unsupported(Arithmetic how, const Value& a, const Value& b) {
    throw TemplateError("unsupported operand type(s) for " + std::string(symbolOf(how)) + ": '" +
                        std::string(typeName(a)) + "' and '" + std::string(typeName(b)) + "'");
}

[[noreturn]] void tooLarge() { throw TemplateError("an integer is too large (64 bits)"); }

[[noreturn]] void divisionByZero(Arithmetic how, bool real) {
    if (how == Arithmetic::Divide) throw TemplateError(real ? "float division by zero" : "division by zero");
    if (!real) throw TemplateError("integer division or modulo by zero");
    throw TemplateError(how == Arithmetic::Modulo ? "float modulo" : "float floor division by zero");
}

std::int64_t floorDivide(std::int64_t a, std::int64_t b) {
    if (a == INT64_MIN && b == -1) tooLarge();
    const std::int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

double floorModulo(double a, double b) {
    double rest = std::fmod(a, b);
    if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
    return rest == 0 ? std::copysign(0.0, b) : rest;
}

double floorDivide(double a, double b) { return std::floor((a - floorModulo(a, b)) / b + 0.5); }

Value realPower(double a, double b) {
    if (a == 0 && b < 0) throw TemplateError("0.0 cannot be raised to a negative power");
    if (a < 0 && b != std::floor(b)) throw TemplateError("complex numbers are not supported");
    return Value(std::pow(a, b));
}

Value integerPower(std::int64_t base, std::int64_t exponent) {
    if (exponent < 0) return realPower(static_cast<double>(base), static_cast<double>(exponent));
    std::int64_t result = 1;
    while (exponent > 0) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) tooLarge();
        exponent >>= 1;
        if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) tooLarge();
    }
    return Value(result);
}

Value integers(Arithmetic how, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    switch (how) {
        case Arithmetic::Add:
            if (__builtin_add_overflow(a, b, &result)) tooLarge();
            return Value(result);
        case Arithmetic::Subtract:
            if (__builtin_sub_overflow(a, b, &result)) tooLarge();
            return Value(result);
        case Arithmetic::Multiply:
            if (__builtin_mul_overflow(a, b, &result)) tooLarge();
            return Value(result);
        case Arithmetic::Power:
            return integerPower(a, b);
        default:
            break;
    }
    if (b == 0) divisionByZero(how, false);
    if (how == Arithmetic::Divide) return Value(static_cast<double>(a) / static_cast<double>(b));
    if (how == Arithmetic::FloorDivide) return Value(floorDivide(a, b));
    return b == -1 ? Value(std::int64_t{0}) : Value(a - b * floorDivide(a, b));
}

Value reals(Arithmetic how, double a, double b) {
    switch (how) {
        case Arithmetic::Add:
            return Value(a + b);
        case Arithmetic::Subtract:
            return Value(a - b);
        case Arithmetic::Multiply:
            return Value(a * b);
        case Arithmetic::Power:
            return realPower(a, b);
        default:
            break;
    }
    if (b == 0) divisionByZero(how, true);
    if (how == Arithmetic::Divide) return Value(a / b);
    return Value(how == Arithmetic::FloorDivide ? floorDivide(a, b) : floorModulo(a, b));
}

Value add(const Value& a, const Value& b) {
    if (a.string() != nullptr) {
        if (b.string() == nullptr) {
            throw TemplateError("can only concatenate str (not \"" + std::string(typeName(b)) + "\") to str");
        }
        MarkedString out = *a.string();
        out.append(*b.string());
        return Value(std::move(out));
    }
    const Sequence* x = a.sequence();
    const Sequence* y = b.sequence();
    const bool concatenates = x != nullptr && (x->kind == SequenceKind::List || x->kind == SequenceKind::Tuple);
    if (!concatenates) unsupported(Arithmetic::Add, a, b);
    if (y == nullptr || y->kind != x->kind) {
        const std::string name(typeName(a));
        throw TemplateError("can only concatenate " + name + " (not \"" + std::string(typeName(b)) + "\") to " + name);
    }
    std::vector<Value> items = x->items;
    items.insert(items.end(), y->items.begin(), y->items.end());
    return Value::sequence(x->kind, std::move(items));
}

Value repeat(const Value& what, const Value& times) {
    const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *times.asInteger()));
    if (const MarkedString* text = what.string()) {
        MarkedString out;
        for (std::uint64_t i = 0; i < count && !text->empty(); ++i) out.append(*text);
        return Value(std::move(out));
    }
    const Sequence& sequence = *what.sequence();
    if (!sequence.items.empty() && count > maxItems / sequence.items.size()) failTooManyItems();
    std::vector<Value> items;
    for (std::uint64_t i = 0; i < count && !sequence.items.empty(); ++i) {
        items.insert(items.end(), sequence.items.begin(), sequence.items.end());
    }
    return Value::sequence(sequence.kind, std::move(items));
}

bool isRepeatable(const Value& value) {
    if (value.string() != nullptr) return true;
    const Sequence* held = value.sequence();
    return held != nullptr && (held->kind == SequenceKind::List || held->kind == SequenceKind::Tuple);
}

}  // namespace

Value arithmetic(Arithmetic how, const Value& a, const Value& b) {
    requireDefined(a);
    requireDefined(b);
    const auto x = a.asInteger();
    const auto y = b.asInteger();
    if (x && y) return integers(how, *x, *y);
    if (a.asNumber() && b.asNumber()) return reals(how, *a.asNumber(), *b.asNumber());
    if (how == Arithmetic::Add) return add(a, b);
    if (how == Arithmetic::Multiply && isRepeatable(a) && y) return repeat(a, b);
    if (how == Arithmetic::Multiply && x && isRepeatable(b)) return repeat(b, a);
    if (how == Arithmetic::Modulo && a.string() != nullptr) return Value(percentFormat(*a.string(), b));
    unsupported(how, a, b);
}

Value negate(const Value& value) {
    requireDefined(value);
    if (const auto held = value.asInteger()) {
        if (*held == INT64_MIN) tooLarge();
        return Value(-*held);
    }
    if (const double* held = value.real()) return Value(-*held);
    throw TemplateError("bad operand type for unary -: '" + std::string(typeName(value)) + "'");
}

Value positive(const Value& value) {
    requireDefined(value);
    if (const auto held = value.asInteger()) return Value(*held);
    if (value.real() != nullptr) return value;
    throw TemplateError("bad operand type for unary +: '" + std::string(typeName(value)) + "'");
}

}  // namespace firsttoken::engine::jinja
