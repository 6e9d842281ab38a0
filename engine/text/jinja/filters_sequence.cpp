#include <algorithm>

#include "engine/text/jinja/arguments.h"
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/filter_keys.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/printing.h"
#include "engine/text/jinja/string_operations.h"
#include "engine/text/jinja/template_error.h"
#include "engine/text/jinja/text_tools.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine::jinja {

namespace {

Value lengthFilter(Interpreter&, const Value& input, Arguments arguments) {
    const ArgumentList list("length", std::move(arguments), {});
    if (input.isUndefined()) return Value(std::int64_t{0});
    if (const MarkedString* text = input.string()) return Value::integer(countCodePoints(text->view()));
    if (const Dict* dict = input.dict()) return Value::integer(dict->size());
    const Sequence* sequence = input.sequence();
    if (sequence == nullptr || !sequence->hasLength()) {
        throw TemplateError("object of type '" + std::string(typeName(input)) + "' has no len()");
    }
    return Value::integer(sequence->items.size());
}

Value firstFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("first", std::move(arguments), {});
    const std::vector<Value> items = interpreter.iterate(input);
    return items.empty() ? Value::undefined("No first item, sequence was empty.") : items.front();
}

void requireReversible(const Value& input) {
    const Sequence* sequence = input.sequence();
    if (sequence != nullptr && !sequence->hasLength()) throw TemplateError("'generator' object is not reversible");
}

Value lastFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("last", std::move(arguments), {});
    requireReversible(input);
    const std::vector<Value> items = interpreter.iterate(input);
    return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value listFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("list", std::move(arguments), {});
    return Value::list(interpreter.iterate(input));
}

Value reverseFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("reverse", std::move(arguments), {});
    std::vector<Value> items = interpreter.iterate(input);
    std::reverse(items.begin(), items.end());
    if (input.string() == nullptr) return Value::generator(std::move(items));
    MarkedString out;
    for (const Value& item : items) out.append(*item.string());
    return Value(std::move(out));
}

Value joinFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("join", std::move(arguments), {"d", "attribute"});
    const ItemKey key(interpreter, list.orElse(1, Value()), false);
    std::vector<MarkedString> parts;
    for (const Value& item : interpreter.iterate(input)) parts.push_back(toText(key.of(item)));
    return Value(join(parts, list.has(0) ? toText(list[0]) : MarkedString()));
}

/// Sorts by keys that are computed once; equal ones keep their order, also in reverse, as in Python.
std::vector<Value> sortedBy(Interpreter& interpreter, const std::vector<Value>& items, const std::vector<ItemKey>& keys,
                            bool reverse) {
    std::vector<std::pair<std::vector<Value>, Value>> keyed;
    for (const Value& item : items) {
        keyed.emplace_back(std::vector<Value>(), item);
        for (const ItemKey& key : keys) keyed.back().first.push_back(key.of(item));
    }
    const auto before = [&](const auto& a, const auto& b) {
        interpreter.tick();
        for (std::size_t i = 0; i < a.first.size(); ++i) {
            const int compared = order(a.first[i], b.first[i]);
            if (compared != 0) return reverse ? compared > 0 : compared < 0;
        }
        return false;
    };
    std::stable_sort(keyed.begin(), keyed.end(), before);
    std::vector<Value> out;
    for (auto& entry : keyed) out.push_back(std::move(entry.second));
    return out;
}

Value sortFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("sort", std::move(arguments), {"reverse", "case_sensitive", "attribute"});
    const bool ignoreCase = !list.trueOr(1, false);
    std::vector<ItemKey> keys;
    if (list.has(2) && list[2].string() != nullptr) {
        for (MarkedString& name : split(list.string(2), ",", -1, false)) {
            keys.emplace_back(interpreter, Value(std::move(name)), ignoreCase);
        }
    } else {
        keys.emplace_back(interpreter, list.orElse(2, Value()), ignoreCase);
    }
    return Value::list(sortedBy(interpreter, interpreter.iterate(input), keys, list.trueOr(0, false)));
}

Value dictSortFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("dictsort", std::move(arguments), {"case_sensitive", "by", "reverse"});
    if (input.dict() == nullptr) throw TemplateError("dictsort needs a mapping");
    const std::string by = list.stringOr(1, "key");
    if (by != "key" && by != "value") throw TemplateError("You can only sort by either \"key\" or \"value\"");
    std::vector<Value> pairs;
    for (const auto& [key, value] : input.dict()->items()) pairs.push_back(Value::tuple({key, value}));
    std::vector<ItemKey> keys;
    keys.emplace_back(interpreter, Value(std::int64_t{by == "key" ? 0 : 1}), !list.trueOr(0, false));
    return Value::list(sortedBy(interpreter, pairs, keys, list.trueOr(2, false)));
}

Value uniqueFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("unique", std::move(arguments), {"case_sensitive", "attribute"});
    const ItemKey key(interpreter, list.orElse(1, Value()), !list.trueOr(0, false));
    Dict seen;
    std::vector<Value> out;
    for (const Value& item : interpreter.iterate(input)) {
        const Value part = key.of(item);
        interpreter.tick(seen.size() / 16);
        if (isHashable(part) && seen.find(part) != nullptr) continue;
        seen.set(part, Value());
        out.push_back(item);
    }
    return Value::generator(std::move(out));
}

template <int direction>
Value extremeFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list(direction < 0 ? "min" : "max", std::move(arguments), {"case_sensitive", "attribute"});
    const ItemKey key(interpreter, list.orElse(1, Value()), !list.trueOr(0, false));
    const std::vector<Value> items = interpreter.iterate(input);
    if (items.empty()) return Value::undefined("No aggregated item, sequence was empty.");
    std::size_t best = 0;
    for (std::size_t i = 1; i < items.size(); ++i) {
        if (order(key.of(items[i]), key.of(items[best])) * direction > 0) best = i;
    }
    return items[best];
}

Value sumFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("sum", std::move(arguments), {"attribute", "start"});
    const ItemKey key(interpreter, list.orElse(0, Value()), false);
    Value total = list.orElse(1, Value(std::int64_t{0}));
    if (total.string() != nullptr) throw TemplateError("sum() can't sum strings [use ''.join(seq) instead]");
    for (const Value& item : interpreter.iterate(input)) {
        total = interpreter.made(arithmetic(Arithmetic::Add, total, key.of(item)));
    }
    return total;
}

Value batchFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("batch", std::move(arguments), {"linecount", "fill_with"}, 1);
    const std::int64_t count = list.integerOr(0, 1);
    if (count < 1 || count > 1'000'000) throw TemplateError("batch needs a count of 1 to 1,000,000");
    const auto width = static_cast<std::size_t>(count);
    std::vector<Value> rows;
    std::vector<Value> row;
    for (Value& item : interpreter.iterate(input)) {
        if (row.size() == width) rows.push_back(Value::list(std::exchange(row, {})));
        row.push_back(std::move(item));
    }
    if (!row.empty()) {
        const bool fills = list.has(1) && !list[1].isNone();
        while (fills && row.size() < width) row.push_back(list[1]);
        interpreter.tick(row.size());
        rows.push_back(Value::list(std::move(row)));
    }
    return Value::generator(std::move(rows));
}

Value sliceFilter(Interpreter& interpreter, const Value& input, Arguments arguments) {
    const ArgumentList list("slice", std::move(arguments), {"slices", "fill_with"}, 1);
    const std::int64_t count = list.integerOr(0, 1);
    if (count < 1 || count > 100'000) throw TemplateError("slice needs a count of 1 to 100,000");
    const std::vector<Value> items = interpreter.iterate(input);
    const auto columns = static_cast<std::size_t>(count);
    const std::size_t each = items.size() / columns;
    const std::size_t longer = items.size() % columns;
    std::vector<Value> out;
    std::size_t at = 0;
    for (std::size_t column = 0; column < columns; ++column) {
        const std::size_t size = each + (column < longer ? 1 : 0);
        std::vector<Value> part(items.begin() + static_cast<std::ptrdiff_t>(at),
                                items.begin() + static_cast<std::ptrdiff_t>(at + size));
        if (list.has(1) && !list[1].isNone() && column >= longer) part.push_back(list[1]);
        out.push_back(Value::list(std::move(part)));
        at += size;
    }
    interpreter.tick(columns);
    return Value::generator(std::move(out));
}

constexpr NamedFilter filters[] = {{"length", lengthFilter}, {"count", lengthFilter},    {"first", firstFilter},
                                   {"last", lastFilter},     {"list", listFilter},       {"reverse", reverseFilter},
                                   {"join", joinFilter},     {"sort", sortFilter},       {"dictsort", dictSortFilter},
                                   {"unique", uniqueFilter}, {"min", extremeFilter<-1>}, {"max", extremeFilter<1>},
                                   {"sum", sumFilter},       {"batch", batchFilter},     {"slice", sliceFilter}};

}  // namespace

std::span<const NamedFilter> sequenceFilters() { return filters; }

}  // namespace firsttoken::engine::jinja
