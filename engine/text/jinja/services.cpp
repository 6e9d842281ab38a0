#include <algorithm>

#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/printing.h"
#include "engine/text/jinja/template_error.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine::jinja {

namespace {

// A conversation of thousands of messages takes under a million steps.
constexpr std::uint64_t maxSteps = 10'000'000;
constexpr std::uint64_t maxAllBytes = std::uint64_t{1} << 30U;

}  // namespace

const Value* Scope::find(std::string_view name) const {
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == name; });
    return found == names.end() ? nullptr : &found->second;
}

void Scope::set(std::string_view name, Value value) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == name; });
    if (found == names.end()) {
        names.emplace_back(name, std::move(value));
    } else {
        found->second = std::move(value);
    }
}

Interpreter::Interpreter(const Ast& ast, const Dict& given, Date now)
    : m_ast(ast), m_given(given), m_now(now), m_scope(std::make_shared<Scope>(nullptr)) {}

Interpreter::~Interpreter() {
    // Namespaces may hold each other in a ring, and chains of them may be long: taken apart one by one.
    for (const NamespacePointer& held : m_namespaces) held->attributes = Dict();
}

MarkedString Interpreter::run() { return capture(m_ast.body, m_scope); }

void Interpreter::tick(std::uint64_t units) {
    m_steps += units;
    if (m_steps > maxSteps) throw TemplateError("the template takes too many steps (10,000,000)");
}

Value Interpreter::made(Value value) {
    const std::uint64_t weight = value.extent().weight;
    tick(weight / 64);
    m_bytes += value.string() != nullptr ? weight : 0;
    if (m_bytes > maxAllBytes) throw TemplateError("the template builds too much text (1 GiB)");
    return value;
}

Value Interpreter::applyFilter(std::string_view name, const Value& input, Arguments arguments) {
    tick(1 + input.extent().weight / 64);
    for (const auto table : {textFilters(), sequenceFilters(), selectFilters(), valueFilters()}) {
        if (const FilterBody body = findNamed(table, name)) return made(body(*this, input, std::move(arguments)));
    }
    throw TemplateError("No filter named '" + std::string(name) + "'.");
}

bool Interpreter::applyTest(std::string_view name, const Value& input, Arguments arguments) {
    tick();
    const TestBody body = findNamed(tests(), name);
    if (body == nullptr) throw TemplateError("No test named '" + std::string(name) + "'.");
    return body(*this, input, std::move(arguments));
}

Value Interpreter::call(const Value& callee, Arguments arguments) {
    if (callee.isUndefined()) throw TemplateError(callee.undefinedMessage());
    Object* object = callee.object();
    if (object == nullptr || !object->callable()) {
        throw TemplateError("'" + std::string(typeName(callee)) + "' object is not callable");
    }
    const Level level(*this);
    // Holds the object: a name may be set anew while it runs.
    const Value held = callee;
    return made(object->call(*this, std::move(arguments)));
}

std::vector<Value> Interpreter::iterate(const Value& value) {
    std::vector<Value> items;
    if (value.isUndefined()) return items;
    if (const Sequence* sequence = value.sequence()) {
        items = sequence->items;
    } else if (const Dict* dict = value.dict()) {
        for (const auto& [key, held] : dict->items()) items.push_back(key);
    } else if (const MarkedString* text = value.string()) {
        for (std::size_t at = 0; at < text->size();) {
            const std::size_t length = decodeUtf8(text->view(), at).length;
            items.emplace_back(text->cut(at, length));
            at += length;
            tick(4);
        }
    } else {
        throw TemplateError("'" + std::string(typeName(value)) + "' object is not iterable");
    }
    tick(items.size());
    return items;
}

Value Interpreter::makeNamespace(Dict attributes) {
    tick(50);
    auto created = std::make_shared<Namespace>();
    created->attributes = std::move(attributes);
    m_namespaces.push_back(created);
    return Value(created);
}

Interpreter::Level::Level(Interpreter& interpreter) : m_interpreter(interpreter) {
    constexpr int maxLevel = 1200;
    if (m_interpreter.m_level >= maxLevel) throw TemplateError("the template recurses too deep");
    ++m_interpreter.m_level;
}

}  // namespace firsttoken::engine::jinja
