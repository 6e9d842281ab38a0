#include <algorithm>

#include "engine/text/jinja/arguments.h"
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

Value getMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("get", std::move(arguments), {"key", "default"}, 1);
    if (!isHashable(list[0])) throw TemplateError("unhashable type: '" + std::string(typeName(list[0])) + "'");
    const Value* found = self.dict()->find(list[0]);
    return found != nullptr ? *found : list.orElse(1, Value());
}

template <SequenceKind kind>
Value viewMethod(Interpreter& interpreter, const Value& self, Arguments arguments) {
    const ArgumentList list("items", std::move(arguments), {});
    std::vector<Value> items;
    for (const auto& [key, value] : self.dict()->items()) {
        if (kind == SequenceKind::Keys) {
            items.push_back(key);
        } else if (kind == SequenceKind::Values) {
            items.push_back(value);
        } else {
            items.push_back(Value::tuple({key, value}));
        }
    }
    interpreter.tick(items.size());
    return Value::sequence(kind, std::move(items));
}

Value copyMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("copy", std::move(arguments), {});
    return self;
}

Value countMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("count", std::move(arguments), {"value"}, 1);
    const auto& items = self.sequence()->items;
    return Value(static_cast<std::int64_t>(
        std::count_if(items.begin(), items.end(), [&](const Value& item) { return areEqual(item, list[0]); })));
}

Value indexMethod(Interpreter&, const Value& self, Arguments arguments) {
    const ArgumentList list("index", std::move(arguments), {"value"}, 1);
    const auto& items = self.sequence()->items;
    const auto found =
        std::find_if(items.begin(), items.end(), [&](const Value& item) { return areEqual(item, list[0]); });
    if (found == items.end()) throw TemplateError("the value is not in the list");
    return Value(static_cast<std::int64_t>(found - items.begin()));
}

constexpr NamedMethod dictMethods[] = {{"get", getMethod},
                                       {"items", viewMethod<SequenceKind::Items>},
                                       {"keys", viewMethod<SequenceKind::Keys>},
                                       {"values", viewMethod<SequenceKind::Values>},
                                       {"copy", copyMethod}};
constexpr NamedMethod listMethods[] = {{"count", countMethod}, {"index", indexMethod}, {"copy", copyMethod}};
constexpr NamedMethod tupleMethods[] = {{"count", countMethod}, {"index", indexMethod}};

// Python has them; templates may not change what they were given.
constexpr std::string_view changingDict[] = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr std::string_view changingList[] = {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};

Value refuse(Interpreter&, const Value& self, Arguments) {
    throw TemplateError("templates cannot change a " + std::string(typeName(self)) +
                        ": access to this method is unsafe");
}

template <class Names>
bool isAmong(const Names& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

MethodBody findContainerMethod(const Value& self, std::string_view name) {
    if (self.dict() != nullptr) {
        return isAmong(changingDict, name) ? refuse : findNamed(std::span(dictMethods), name);
    }
    switch (self.sequence()->kind) {
        case SequenceKind::List:
            return isAmong(changingList, name) ? refuse : findNamed(std::span(listMethods), name);
        case SequenceKind::Tuple:
        case SequenceKind::Range:
            return findNamed(std::span(tupleMethods), name);
        default:
            return nullptr;
    }
}

}  // namespace firsttoken::engine::jinja
