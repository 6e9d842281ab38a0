#include <algorithm>
#include <cmath>

#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

bool equalItems(const std::vector<Value>& a, const std::vector<Value>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), areEqual);
}

bool equalDicts(const Dict& a, const Dict& b) {
    if (a.size() != b.size()) return false;
    return std::all_of(a.items().begin(), a.items().end(), [&](const auto& item) {
        const Value* other = b.find(item.first);
        return other != nullptr && areEqual(item.second, *other);
    });
}

bool equalSequences(const Sequence& a, const Sequence& b) {
    if (&a == &b) return true;
    return a.kind == b.kind && a.kind != SequenceKind::Generator && a.kind != SequenceKind::Values &&
           equalItems(a.items, b.items);
}

/// Exact also where a double cannot hold the int.
int orderNumbers(const Value& a, const Value& b) {
    const auto x = a.asInteger();
    const auto y = b.asInteger();
    if (x && y) return *x < *y ? -1 : *x > *y ? 1 : 0;
    const auto p = static_cast<long double>(x ? static_cast<long double>(*x) : *a.asNumber());
    const auto q = static_cast<long double>(y ? static_cast<long double>(*y) : *b.asNumber());
    return p < q ? -1 : p > q ? 1 : 0;
}

}  // namespace

void requireDefined(const Value& value) {
    if (value.isUndefined()) throw TemplateError(value.undefinedMessage());
}

bool isTrue(const Value& value) {
    if (value.isUndefined() || value.isNone()) return false;
    if (const bool* held = value.boolean()) return *held;
    if (const auto* held = value.integer()) return *held != 0;
    if (const auto* held = value.real()) return *held != 0;
    if (const auto* held = value.string()) return !held->empty();
    if (const auto* held = value.sequence()) return !held->hasLength() || !held->items.empty();
    if (const auto* held = value.dict()) return held->size() > 0;
    return true;
}

bool isHashable(const Value& value) {
    if (value.dict() != nullptr) return false;
    const Sequence* held = value.sequence();
    if (held == nullptr) return true;
    return held->kind == SequenceKind::Tuple && std::all_of(held->items.begin(), held->items.end(), isHashable);
}

bool areEqual(const Value& a, const Value& b) {
    if (a.isUndefined() || b.isUndefined()) return a.isUndefined() && b.isUndefined();
    if (a.asNumber() && b.asNumber()) {
        const bool nan = std::isnan(*a.asNumber()) || std::isnan(*b.asNumber());
        return !nan && orderNumbers(a, b) == 0;
    }
    if (a.string() != nullptr && b.string() != nullptr) return *a.string() == *b.string();
    if (a.dict() != nullptr && b.dict() != nullptr) return equalDicts(*a.dict(), *b.dict());
    if (a.sequence() != nullptr && b.sequence() != nullptr) return equalSequences(*a.sequence(), *b.sequence());
    return a.same(b);
}

int order(const Value& a, const Value& b, const char* symbol) {
    requireDefined(a);
    requireDefined(b);
    if (a.asNumber() && b.asNumber()) return orderNumbers(a, b);
    if (a.string() != nullptr && b.string() != nullptr) {
        const int compared = a.string()->bytes().compare(b.string()->bytes());  // UTF-8 keeps code point order
        return compared < 0 ? -1 : compared > 0 ? 1 : 0;
    }
    const Sequence* x = a.sequence();
    const Sequence* y = b.sequence();
    const bool lists = x != nullptr && y != nullptr && x->kind == y->kind &&
                       (x->kind == SequenceKind::List || x->kind == SequenceKind::Tuple);
    if (!lists) {
        throw TemplateError("'" + std::string(symbol) + "' not supported between instances of '" +
                            std::string(typeName(a)) + "' and '" + std::string(typeName(b)) + "'");
    }
    for (std::size_t i = 0; i < std::min(x->items.size(), y->items.size()); ++i) {
        if (!areEqual(x->items[i], y->items[i])) return order(x->items[i], y->items[i], symbol);
    }
    return x->items.size() < y->items.size() ? -1 : x->items.size() > y->items.size() ? 1 : 0;
}

bool contains(const Value& container, const Value& item) {
    if (container.isUndefined()) return false;  // it walks as nothing
    if (const MarkedString* text = container.string()) {
        requireDefined(item);
        if (item.string() == nullptr) {
            throw TemplateError("'in <string>' requires string as left operand, not " + std::string(typeName(item)));
        }
        return text->bytes().find(item.string()->bytes()) != std::string::npos;
    }
    if (const Sequence* held = container.sequence()) {
        return std::any_of(held->items.begin(), held->items.end(),
                           [&](const Value& other) { return item.same(other) || areEqual(item, other); });
    }
    if (const Dict* held = container.dict()) {
        if (!isHashable(item)) throw TemplateError("unhashable type: '" + std::string(typeName(item)) + "'");
        return held->find(item) != nullptr;
    }
    throw TemplateError("argument of type '" + std::string(typeName(container)) + "' is not iterable");
}

bool compare(Compare how, const Value& a, const Value& b) {
    const auto ordered = [&](const char* symbol, auto holds) {
        const bool nan =
            (a.real() != nullptr && std::isnan(*a.real())) || (b.real() != nullptr && std::isnan(*b.real()));
        const int outcome = order(a, b, symbol);
        return !nan && holds(outcome);
    };
    switch (how) {
        case Compare::Equal:
            return areEqual(a, b);
        case Compare::Unequal:
            return !areEqual(a, b);
        case Compare::Less:
            return ordered("<", [](int o) { return o < 0; });
        case Compare::LessEqual:
            return ordered("<=", [](int o) { return o <= 0; });
        case Compare::Greater:
            return ordered(">", [](int o) { return o > 0; });
        case Compare::GreaterEqual:
            return ordered(">=", [](int o) { return o >= 0; });
        case Compare::In:
            return contains(b, a);
        case Compare::NotIn:
            return !contains(b, a);
    }
    return false;
}

}  // namespace firsttoken::engine::jinja
