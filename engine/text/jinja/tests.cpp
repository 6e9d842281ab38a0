#include "engine/text/jinja/arguments.h"
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/printing.h"
#include "engine/text/jinja/string_operations.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

/// Tests of the value alone.
template <bool (*holds)(const Value&)>
bool plainTest(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("the test", std::move(arguments), {});
    return holds(input);
}

bool isDefined(const Value& v) { return !v.isUndefined(); }
bool isUndefined(const Value& v) { return v.isUndefined(); }
bool isNone(const Value& v) { return v.isNone(); }
bool isBoolean(const Value& v) { return v.boolean() != nullptr; }
bool isTrueValue(const Value& v) { return v.boolean() != nullptr && *v.boolean(); }
bool isFalseValue(const Value& v) { return v.boolean() != nullptr && !*v.boolean(); }
bool isInteger(const Value& v) { return v.integer() != nullptr; }
bool isFloat(const Value& v) { return v.real() != nullptr; }
bool isNumber(const Value& v) { return v.asNumber().has_value(); }
bool isString(const Value& v) { return v.string() != nullptr; }
bool isMapping(const Value& v) { return v.dict() != nullptr; }
bool isSequence(const Value& v) {
    return v.isUndefined() || v.string() != nullptr || v.dict() != nullptr ||
           (v.sequence() != nullptr && v.sequence()->hasIndex());
}
bool isIterable(const Value& v) {
    return v.isUndefined() || v.string() != nullptr || v.dict() != nullptr || v.sequence() != nullptr;
}
bool isCallable(const Value& v) { return v.isUndefined() || (v.object() != nullptr && v.object()->callable()); }
bool isEscaped(const Value&) { return false; }

bool isLower(const Value& v) {
    const MarkedString text = toText(v);
    return text == toCase(text, LetterCase::Lower) && !(text == toCase(text, LetterCase::Upper));
}
bool isUpper(const Value& v) {
    const MarkedString text = toText(v);
    return text == toCase(text, LetterCase::Upper) && !(text == toCase(text, LetterCase::Lower));
}

bool isZero(const Value& value) { return value.asNumber() && *value.asNumber() == 0; }
Value remainder(const Value& value, const Value& divisor) { return arithmetic(Arithmetic::Modulo, value, divisor); }
bool isEven(const Value& v) { return isZero(remainder(v, Value(std::int64_t{2}))); }
bool isOdd(const Value& v) { return areEqual(remainder(v, Value(std::int64_t{2})), Value(std::int64_t{1})); }

template <Compare how>
bool compareTest(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("the test", std::move(arguments), {"other"}, 1);
    return compare(how, input, list[0]);
}

bool sameAs(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("sameas", std::move(arguments), {"other"}, 1);
    return input.same(list[0]);
}

bool divisibleBy(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("divisibleby", std::move(arguments), {"num"}, 1);
    return isZero(remainder(input, list[0]));
}

bool isFilter(Interpreter&, const Value& input, Arguments arguments);
bool isTest(Interpreter&, const Value& input, Arguments arguments);

constexpr NamedTest table[] = {{"defined", plainTest<isDefined>},
                               {"undefined", plainTest<isUndefined>},
                               {"none", plainTest<isNone>},
                               {"boolean", plainTest<isBoolean>},
                               {"true", plainTest<isTrueValue>},
                               {"false", plainTest<isFalseValue>},
                               {"integer", plainTest<isInteger>},
                               {"float", plainTest<isFloat>},
                               {"number", plainTest<isNumber>},
                               {"string", plainTest<isString>},
                               {"mapping", plainTest<isMapping>},
                               {"sequence", plainTest<isSequence>},
                               {"iterable", plainTest<isIterable>},
                               {"callable", plainTest<isCallable>},
                               {"escaped", plainTest<isEscaped>},
                               {"lower", plainTest<isLower>},
                               {"upper", plainTest<isUpper>},
                               {"even", plainTest<isEven>},
                               {"odd", plainTest<isOdd>},
                               {"eq", compareTest<Compare::Equal>},
                               {"==", compareTest<Compare::Equal>},
                               {"equalto", compareTest<Compare::Equal>},
                               {"ne", compareTest<Compare::Unequal>},
                               {"!=", compareTest<Compare::Unequal>},
                               {"lt", compareTest<Compare::Less>},
                               {"<", compareTest<Compare::Less>},
                               {"lessthan", compareTest<Compare::Less>},
                               {"le", compareTest<Compare::LessEqual>},
                               {"<=", compareTest<Compare::LessEqual>},
                               {"gt", compareTest<Compare::Greater>},
                               {">", compareTest<Compare::Greater>},
                               {"greaterthan", compareTest<Compare::Greater>},
                               {"ge", compareTest<Compare::GreaterEqual>},
                               {">=", compareTest<Compare::GreaterEqual>},
                               {"in", compareTest<Compare::In>},
                               {"sameas", sameAs},
                               {"divisibleby", divisibleBy},
                               {"filter", isFilter},
                               {"test", isTest}};

bool isFilter(Interpreter&, const Value& input, Arguments) {
    if (input.string() == nullptr) return false;
    for (const auto filters : {textFilters(), sequenceFilters(), selectFilters(), valueFilters()}) {
        if (findNamed(filters, input.string()->view()) != nullptr) return true;
    }
    return false;
}

bool isTest(Interpreter&, const Value& input, Arguments) {
    return input.string() != nullptr && findNamed(tests(), input.string()->view()) != nullptr;
}

}  // namespace

std::span<const NamedTest> tests() { return table; }

}  // namespace firsttoken::engine::jinja
