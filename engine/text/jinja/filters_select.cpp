#include <algorithm>

#include "engine/text/jinja/arguments.h"
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/filter_keys.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

/// Takes the first positional argument off.
Value takeFirst(Arguments& arguments, const char* function, const char* what) {
    if (arguments.positional.empty()) {
        throw TemplateError(std::string(function) + "() missing the argument '" + what + "'");
    }
    Value first = std::move(arguments.positional.front());
    arguments.positional.erase(arguments.positional.begin());
    return first;
}

std::string nameOf(const Value& value) {
    if (value.string() == nullptr) throw TemplateError("the name of a filter or test must be a string");
    return value.string()->bytes();
}

/// select, reject, selectattr, rejectattr: by a test, or by truth where none is named.
template <bool keeps, bool byAttribute>
Value selectFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    Value attribute;
    if (byAttribute) attribute = takeFirst(arguments, keeps ? "selectattr" : "rejectattr", "attribute");
    const ItemKey key(interpreter, attribute, false);
    std::optional<std::string> test;
    if (!arguments.positional.empty()) test = nameOf(takeFirst(arguments, "select", "test"));
    std::vector<Value> out;
    for (Value& item : interpreter.iterate(input)) {
        const Value part = key.of(item);
        const bool holds = test ? interpreter.applyTest(*test, part, arguments) : isTrue(part);
        if (holds == keeps) out.push_back(std::move(item));
    }
    return Value::generator(std::move(out));
}

/// map('filter', …) or map(attribute='name', default=…).
Value mapFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    std::vector<Value> out;
    if (arguments.positional.empty()) {
        const ArgumentList list("map", std::move(arguments), {"attribute", "default"}, 1);
        const ItemKey key(interpreter, list[0], false, list.has(1) ? std::optional<Value>(list[1]) : std::nullopt);
        for (const Value& item : interpreter.iterate(input)) out.push_back(key.of(item));
    } else {
        const std::string name = nameOf(takeFirst(arguments, "map", "filter"));
        for (const Value& item : interpreter.iterate(input)) {
            out.push_back(interpreter.applyFilter(name, item, arguments));
        }
    }
    return Value::generator(std::move(out));
}

/// Pairs of a key and the items that have it, sorted by key.
Value groupByFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("groupby", std::move(arguments), {"attribute", "default", "case_sensitive"}, 1);
    const auto fallback = list.has(1) ? std::optional<Value>(list[1]) : std::nullopt;
    const ItemKey exact(interpreter, list[0], false, fallback);
    const ItemKey sorting(interpreter, list[0], !list.trueOr(2, false), fallback);
    std::vector<std::pair<Value, Value>> keyed;
    for (const Value& item : interpreter.iterate(input)) keyed.emplace_back(sorting.of(item), item);
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
        interpreter.tick();
        return order(a.first, b.first) < 0;
    });
    std::vector<Value> groups;
    for (std::size_t at = 0; at < keyed.size();) {
        std::size_t end = at;
        std::vector<Value> members;
        while (end < keyed.size() && areEqual(keyed[at].first, keyed[end].first))
            members.push_back(keyed[end++].second);
        groups.push_back(Value::tuple({exact.of(members.front()), Value::list(std::move(members))}));
        at = end;
    }
    return Value::list(std::move(groups));
}

constexpr NamedFilter filters[] = {{"select", selectFilter<true, false>},
                                   {"reject", selectFilter<false, false>},
                                   {"selectattr", selectFilter<true, true>},
                                   {"rejectattr", selectFilter<false, true>},
                                   {"map", mapFilter},
                                   {"groupby", groupByFilter}};

}  // namespace

std::span<const NamedFilter> selectFilters() { return filters; }

}  // namespace firsttoken::engine::jinja
