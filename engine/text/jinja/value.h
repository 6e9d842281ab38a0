#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "engine/text/jinja/marked_string.h"

/// The values of the template language, with Python's meaning. Everything but a namespace is immutable once it is
/// in a Value. Values of one render belong to its thread.
namespace firsttoken::engine::jinja {

class Interpreter;
class Value;
class Dict;
struct Sequence;
struct Namespace;
class Object;

/// Containers that lie deeper than this, or hold more (in bytes, as often as they would be printed), are refused: so
/// a walk over any value is bounded, however its parts are shared.
inline constexpr int maxValueDepth = 100;
inline constexpr std::uint64_t maxValueWeight = std::uint64_t{1} << 28U;

/// No list has more items than this.
inline constexpr std::size_t maxItems = 1'000'000;
/// Throws TemplateError.
[[noreturn]] void failTooManyItems();

/// How deep a value is (0: no container) and how many bytes it holds, about.
struct Extent {
    int depth = 0;
    std::uint64_t weight = 16;
    void include(const Extent& part) {
        depth = depth > part.depth ? depth : part.depth;
        weight += part.weight;
    }
    /// The extent of a container around what was included. Throws TemplateError over the limits.
    Extent wrapped() const;
};

/// What a missing name or attribute is: prints as nothing, is false; most other uses are the error `message`.
struct Undefined {
    std::string message = "the value is undefined";
};
struct None {
    bool operator==(const None&) const = default;
};

using StringPointer = std::shared_ptr<const MarkedString>;
using SequencePointer = std::shared_ptr<const Sequence>;
using DictPointer = std::shared_ptr<const Dict>;
using NamespacePointer = std::shared_ptr<Namespace>;
using ObjectPointer = std::shared_ptr<Object>;

enum class SequenceKind : std::uint8_t { List, Tuple, Range, Keys, Values, Items, Generator };

class Value {
public:
    Value() : m_data(None{}) {}
    Value(bool value) : m_data(value) {}
    Value(std::int64_t value) : m_data(value) {}
    Value(double value) : m_data(value) {}
    Value(MarkedString value) : m_data(std::make_shared<const MarkedString>(std::move(value))) {}
    Value(Dict value);
    Value(NamespacePointer value) : m_data(std::move(value)) {}
    Value(ObjectPointer value) : m_data(std::move(value)) {}
    Value(const char*) = delete;  // would become a bool: say whose text it is
    static Value undefined(std::string message);
    static Value text(std::string bytes) { return Value(trusted(std::move(bytes))); }
    static Value integer(std::size_t value) { return Value(static_cast<std::int64_t>(value)); }
    static Value list(std::vector<Value> items);
    static Value tuple(std::vector<Value> items);
    /// What Python gives as an iterator: it can be walked through, but has no length and no index.
    static Value generator(std::vector<Value> items);
    static Value sequence(SequenceKind kind, std::vector<Value> items);

    bool isUndefined() const { return std::holds_alternative<std::shared_ptr<const Undefined>>(m_data); }
    bool isNone() const { return std::holds_alternative<None>(m_data); }
    const bool* boolean() const { return std::get_if<bool>(&m_data); }
    const std::int64_t* integer() const { return std::get_if<std::int64_t>(&m_data); }
    const double* real() const { return std::get_if<double>(&m_data); }
    /// Null for another kind; valid as long as this Value.
    const MarkedString* string() const;
    const Sequence* sequence() const;
    const Dict* dict() const;
    Namespace* nameSpace() const;
    Object* object() const;
    const std::string& undefinedMessage() const { return std::get<std::shared_ptr<const Undefined>>(m_data)->message; }

    /// An int or a bool (as 0 and 1).
    std::optional<std::int64_t> asInteger() const;
    /// An int, a bool or a float.
    std::optional<double> asNumber() const;
    /// The very same object (or the same simple value of the same type).
    bool same(const Value& other) const;
    Extent extent() const;

private:
    std::variant<std::shared_ptr<const Undefined>, None, bool, std::int64_t, double, StringPointer, SequencePointer,
                 DictPointer, NamespacePointer, ObjectPointer>
        m_data;
};

struct Sequence {
    SequenceKind kind = SequenceKind::List;
    std::vector<Value> items;
    Extent extent;

    bool hasLength() const { return kind != SequenceKind::Generator; }
    bool hasIndex() const {
        return kind == SequenceKind::List || kind == SequenceKind::Tuple || kind == SequenceKind::Range;
    }
};

/// Keeps the order of insertion. Keys: strings, numbers, bools, None, tuples of those.
class Dict {
public:
    const std::vector<std::pair<Value, Value>>& items() const { return m_items; }
    std::size_t size() const { return m_items.size(); }
    const Value* find(std::string_view key) const;
    const Value* find(const Value& key) const;
    /// A key that is there already keeps its place. Throws TemplateError for a key that cannot be one.
    void set(Value key, Value value);
    /// As a value: throws TemplateError over the limits.
    Extent extent() const { return m_inner.wrapped(); }

private:
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
    static constexpr std::size_t maxOtherKeys = 1000;  ///< they are searched one by one
    std::size_t indexOf(const Value& key) const;

    std::vector<std::pair<Value, Value>> m_items;
    std::unordered_map<std::string, std::size_t> m_strings;  ///< string keys
    std::size_t m_others = 0;                                ///< keys that are no strings
    Extent m_inner;                                          ///< of what it ever held
};

struct Namespace {
    Dict attributes;
};

/// What a call was given.
struct Arguments {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;
};

/// Things with behaviour: macros, functions, methods, `loop`.
class Object {
public:
    virtual ~Object() = default;
    virtual Value call(Interpreter& interpreter, Arguments arguments) = 0;
    virtual std::optional<Value> attribute(Interpreter& interpreter, std::string_view name);
    /// As it prints: "<Macro 'f'>".
    virtual std::string description() const = 0;
    virtual bool callable() const { return true; }
};

/// Python's name of the type: str, int, list …
std::string_view typeName(const Value& value);

}  // namespace firsttoken::engine::jinja
