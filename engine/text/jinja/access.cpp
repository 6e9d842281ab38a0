#include <algorithm>

#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/template_error.h"
#include "engine/text/jinja/text_tools.h"

namespace firsttoken::engine::jinja {

namespace {

/// A built-in method with the value it belongs to.
class BoundMethod final : public Object {
public:
    BoundMethod(Value self, std::string name, MethodBody body)
        : m_self(std::move(self)), m_name(std::move(name)), m_body(body) {}
    Value call(Interpreter& interpreter, Arguments arguments) override {
        interpreter.tick(m_self.extent().weight / 64);
        return m_body(interpreter, m_self, std::move(arguments));
    }
    std::string description() const override {
        return "<built-in method " + m_name + " of " + std::string(typeName(m_self)) + " object>";
    }

private:
    Value m_self;
    std::string m_name;
    MethodBody m_body;
};

std::string objectName(const Value& value) {
    return value.isNone() ? "'None'" : "'" + std::string(typeName(value)) + " object'";
}

Value missing(const Value& base, std::string_view name) {
    return Value::undefined(objectName(base) + " has no attribute '" + std::string(name) + "'");
}

std::optional<Value> method(const Value& self, std::string_view name) {
    const MethodBody body = self.string() != nullptr ? findStringMethod(name) : findContainerMethod(self, name);
    if (body == nullptr) return std::nullopt;
    return Value(ObjectPointer(std::make_shared<BoundMethod>(self, std::string(name), body)));
}

/// base.name without the detour over base["name"].
std::optional<Value> ownAttribute(Interpreter& interpreter, const Value& base, std::string_view name) {
    if (base.string() != nullptr || base.dict() != nullptr || base.sequence() != nullptr) return method(base, name);
    if (const Namespace* space = base.nameSpace()) {
        const Value* value = space->attributes.find(name);
        return value == nullptr ? std::optional<Value>() : *value;
    }
    if (base.object() != nullptr) return base.object()->attribute(interpreter, name);
    return std::nullopt;
}

/// The place of an index that may count from the end; none if it is outside.
std::optional<std::size_t> placeOf(std::int64_t index, std::size_t size) {
    const auto length = static_cast<std::int64_t>(size);
    const std::int64_t place = index < 0 ? index + length : index;
    if (place < 0 || place >= length) return std::nullopt;
    return static_cast<std::size_t>(place);
}

std::optional<Value> ownItem(const Value& base, const Value& key) {
    if (const Dict* dict = base.dict()) {
        const Value* value = isHashable(key) ? dict->find(key) : nullptr;
        return value == nullptr ? std::optional<Value>() : *value;
    }
    const auto index = key.asInteger();
    if (!index) return std::nullopt;
    if (const Sequence* sequence = base.sequence()) {
        if (!sequence->hasIndex()) return std::nullopt;
        const auto place = placeOf(*index, sequence->items.size());
        return place ? sequence->items[*place] : std::optional<Value>();
    }
    if (const MarkedString* text = base.string()) {
        const std::vector<std::size_t> offsets = characterOffsets(text->view());
        const auto place = placeOf(*index, offsets.size() - 1);
        if (!place) return std::nullopt;
        return Value(text->cut(offsets[*place], offsets[*place + 1] - offsets[*place]));
    }
    return std::nullopt;
}

std::optional<std::int64_t> bound(const Value& value) {
    if (value.isNone()) return std::nullopt;
    requireDefined(value);
    const auto index = value.asInteger();
    if (!index) throw TemplateError("slice indices must be integers or None or have an __index__ method");
    return index;
}

/// The places that a slice takes, in order, by Python's rules.
std::vector<std::size_t> slicePlaces(std::size_t size, const Value& start, const Value& stop, const Value& stepValue) {
    const auto length = static_cast<std::int64_t>(size);
    const std::int64_t step = std::clamp<std::int64_t>(bound(stepValue).value_or(1), -length - 1, length + 1);
    if (step == 0) throw TemplateError("slice step cannot be zero");
    const std::int64_t low = step > 0 ? 0 : -1;
    const std::int64_t high = step > 0 ? length : length - 1;
    const auto place = [&](std::optional<std::int64_t> given, std::int64_t fallback) {
        if (!given) return fallback;
        const std::int64_t counted = *given < 0 ? std::max(*given, -length - 1) + length : *given;
        return std::clamp(counted, low, high);
    };
    const std::int64_t first = place(bound(start), step > 0 ? low : high);
    const std::int64_t last = place(bound(stop), step > 0 ? high : low);
    std::vector<std::size_t> places;
    for (std::int64_t at = first; step > 0 ? at < last : at > last; at += step) {
        places.push_back(static_cast<std::size_t>(at));
    }
    return places;
}

}  // namespace

Value Interpreter::attribute(const Value& base, std::string_view name) {
    requireDefined(base);
    if (auto value = ownAttribute(*this, base, name)) return *std::move(value);
    if (const Dict* dict = base.dict()) {
        if (const Value* value = dict->find(name)) return *value;
    }
    return missing(base, name);
}

Value Interpreter::item(const Value& base, const Value& key) {
    requireDefined(base);
    if (const MarkedString* text = base.string()) tick(text->size() / 64);
    if (auto value = ownItem(base, key)) return *std::move(value);
    if (const MarkedString* name = key.string()) {
        if (auto value = ownAttribute(*this, base, name->view())) return *std::move(value);
        return missing(base, name->view());
    }
    const std::string place = key.asInteger() ? std::to_string(*key.asInteger()) : std::string(typeName(key));
    return Value::undefined(std::string(typeName(base)) + " object has no element " + place);
}

Value Interpreter::slice(const Value& base, const Value& start, const Value& stop, const Value& step) {
    requireDefined(base);
    if (const MarkedString* text = base.string()) {
        tick(text->size() / 16);
        const std::vector<std::size_t> offsets = characterOffsets(text->view());
        MarkedString out;
        for (const std::size_t place : slicePlaces(offsets.size() - 1, start, stop, step)) {
            out.append(*text, offsets[place], offsets[place + 1] - offsets[place]);
        }
        return Value(std::move(out));
    }
    const Sequence* sequence = base.sequence();
    if (sequence == nullptr || !sequence->hasIndex()) {
        throw TemplateError("'" + std::string(typeName(base)) + "' object is not subscriptable");
    }
    std::vector<Value> items;
    for (const std::size_t place : slicePlaces(sequence->items.size(), start, stop, step)) {
        items.push_back(sequence->items[place]);
    }
    return Value::sequence(sequence->kind, std::move(items));
}

}  // namespace firsttoken::engine::jinja
