#include "engine/text/jinja/value.h"

#include <algorithm>

#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

Extent Extent::wrapped() const {
    if (depth >= maxValueDepth) throw TemplateError("values are nested too deep (100 levels)");
    if (weight > maxValueWeight) throw TemplateError("a value is too large (256 MiB)");
    return {depth + 1, weight};
}

Value::Value(Dict value) : m_data(std::make_shared<const Dict>(std::move(value))) { dict()->extent(); }

Value Value::undefined(std::string message) {
    Value value;
    value.m_data = std::make_shared<const Undefined>(Undefined{std::move(message)});
    return value;
}

void failTooManyItems() { throw TemplateError("a list is too long (1,000,000 items)"); }

Value Value::sequence(SequenceKind kind, std::vector<Value> items) {
    if (items.size() > maxItems) failTooManyItems();
    Extent inner;
    for (const Value& item : items) inner.include(item.extent());
    Value value;
    value.m_data = std::make_shared<const Sequence>(Sequence{kind, std::move(items), inner.wrapped()});
    return value;
}

Value Value::list(std::vector<Value> items) { return sequence(SequenceKind::List, std::move(items)); }
Value Value::tuple(std::vector<Value> items) { return sequence(SequenceKind::Tuple, std::move(items)); }
Value Value::generator(std::vector<Value> items) { return sequence(SequenceKind::Generator, std::move(items)); }

const MarkedString* Value::string() const {
    const auto* held = std::get_if<StringPointer>(&m_data);
    return held == nullptr ? nullptr : held->get();
}

const Sequence* Value::sequence() const {
    const auto* held = std::get_if<SequencePointer>(&m_data);
    return held == nullptr ? nullptr : held->get();
}

const Dict* Value::dict() const {
    const auto* held = std::get_if<DictPointer>(&m_data);
    return held == nullptr ? nullptr : held->get();
}

Namespace* Value::nameSpace() const {
    const auto* held = std::get_if<NamespacePointer>(&m_data);
    return held == nullptr ? nullptr : held->get();
}

Object* Value::object() const {
    const auto* held = std::get_if<ObjectPointer>(&m_data);
    return held == nullptr ? nullptr : held->get();
}

std::optional<std::int64_t> Value::asInteger() const {
    if (const bool* value = boolean()) return *value ? 1 : 0;
    if (const std::int64_t* value = integer()) return *value;
    return std::nullopt;
}

std::optional<double> Value::asNumber() const {
    if (const double* value = real()) return *value;
    if (const auto value = asInteger()) return static_cast<double>(*value);
    return std::nullopt;
}

bool Value::same(const Value& other) const {
    if (m_data.index() != other.m_data.index()) return false;
    if (isNone()) return true;
    if (const bool* value = boolean()) return *value == *other.boolean();
    if (const auto* value = integer()) return *value == *other.integer();
    if (const auto* value = real()) return *value == *other.real();
    if (const auto* value = string()) return value == other.string();
    if (const auto* value = sequence()) return value == other.sequence();
    if (const auto* value = dict()) return value == other.dict();
    if (const auto* value = nameSpace()) return value == other.nameSpace();
    if (const auto* value = object()) return value == other.object();
    return std::get<0>(m_data) == std::get<0>(other.m_data);
}

Extent Value::extent() const {
    if (const MarkedString* held = string()) return {0, 16 + held->size()};
    if (const Sequence* held = sequence()) return held->extent;
    if (const Dict* held = dict()) return held->extent();
    return {};
}

std::size_t Dict::indexOf(const Value& key) const {
    if (const MarkedString* text = key.string()) {
        const auto found = m_strings.find(text->bytes());
        return found == m_strings.end() ? nowhere : found->second;
    }
    if (m_others == 0) return nowhere;
    for (std::size_t i = 0; i < m_items.size(); ++i) {
        if (m_items[i].first.string() == nullptr && areEqual(m_items[i].first, key)) return i;
    }
    return nowhere;
}

const Value* Dict::find(std::string_view key) const {
    const auto found = m_strings.find(std::string(key));
    return found == m_strings.end() ? nullptr : &m_items[found->second].second;
}

const Value* Dict::find(const Value& key) const {
    const std::size_t index = indexOf(key);
    return index == nowhere ? nullptr : &m_items[index].second;
}

void Dict::set(Value key, Value value) {
    if (!isHashable(key)) throw TemplateError("unhashable type: '" + std::string(typeName(key)) + "'");
    m_inner.include(key.extent());
    m_inner.include(value.extent());
    const std::size_t index = indexOf(key);
    if (index != nowhere) {
        m_items[index].second = std::move(value);
        return;
    }
    if (const MarkedString* text = key.string()) {
        m_strings.emplace(text->bytes(), m_items.size());
    } else if (++m_others > maxOtherKeys) {
        throw TemplateError("a dict has more than 1000 keys that are no strings");
    }
    m_items.emplace_back(std::move(key), std::move(value));
}

std::optional<Value> Object::attribute(Interpreter&, std::string_view) { return std::nullopt; }

std::string_view typeName(const Value& value) {
    if (value.isUndefined()) return "Undefined";
    if (value.isNone()) return "NoneType";
    if (value.boolean() != nullptr) return "bool";
    if (value.integer() != nullptr) return "int";
    if (value.real() != nullptr) return "float";
    if (value.string() != nullptr) return "str";
    if (value.dict() != nullptr) return "dict";
    if (value.nameSpace() != nullptr) return "Namespace";
    if (value.object() != nullptr) return "function";
    switch (value.sequence()->kind) {
        case SequenceKind::List:
            return "list";
        case SequenceKind::Tuple:
            return "tuple";
        case SequenceKind::Range:
            return "range";
        case SequenceKind::Keys:
            return "dict_keys";
        case SequenceKind::Values:
            return "dict_values";
        case SequenceKind::Items:
            return "dict_items";
        case SequenceKind::Generator:
            break;
    }
    return "generator";
}

}  // namespace firsttoken::engine::jinja
