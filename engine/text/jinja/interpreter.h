#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/value.h"

namespace firsttoken::engine::jinja {

/// A date without a time, for strftime_now.
struct Date {
    int year = 1970, month = 1, day = 1;
};

/// Names set in a block, and the blocks around it. Names point into the Ast.
struct Scope {
    explicit Scope(std::shared_ptr<Scope> around) : parent(std::move(around)) {}
    const Value* find(std::string_view name) const;
    void set(std::string_view name, Value value);

    std::vector<std::pair<std::string_view, Value>> names;
    std::shared_ptr<Scope> parent;
};

/// Runs one template once: one thread, one run. Bounded in steps, depth of evaluation, size of every text and of all
/// of them together; over a bound, or on any error of the template, it throws TemplateError.
class Interpreter {
public:
    /// `given`: the variables of the render. All must outlive the interpreter.
    Interpreter(const Ast& ast, const Dict& given, Date now);
    ~Interpreter();
    Interpreter(const Interpreter&) = delete;
    Interpreter& operator=(const Interpreter&) = delete;

    MarkedString run();
    /// Of the construct being evaluated, for errors that do not know theirs.
    int line() const { return m_line; }
    Date now() const { return m_now; }

    // What filters, tests, methods and functions need (services.cpp, access.cpp).

    /// Counts work: one unit is about one node, or 64 bytes.
    void tick(std::uint64_t units = 1);
    /// Counts a new text or container, by its size; gives it back.
    Value made(Value value);
    Value applyFilter(std::string_view name, const Value& input, Arguments arguments);
    bool applyTest(std::string_view name, const Value& input, Arguments arguments);
    Value call(const Value& callee, Arguments arguments);
    /// base.name, then base["name"].
    Value attribute(const Value& base, std::string_view name);
    /// base[key], then base.key.
    Value item(const Value& base, const Value& key);
    Value slice(const Value& base, const Value& start, const Value& stop, const Value& step);
    /// Everything a loop over the value walks through. Throws for what cannot be walked through.
    std::vector<Value> iterate(const Value& value);
    Value makeNamespace(Dict attributes);

    // What macros and loops need (statements.cpp).

    /// Runs a body in a scope; the text it writes.
    MarkedString capture(const Body& body, std::shared_ptr<Scope> scope);
    Value evaluateIn(const Expression& expression, std::shared_ptr<Scope> scope);
    MarkedString runLoop(const Statement& loop, const Value& over, std::shared_ptr<Scope> around, int depth);

private:
    enum class Flow : std::uint8_t { Normal, Break, Continue };

    /// Counts levels of evaluation while it lives.
    class Level {
    public:
        explicit Level(Interpreter& interpreter);
        ~Level() { --m_interpreter.m_level; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

    private:
        Interpreter& m_interpreter;
    };

    // statements.cpp
    Flow execute(const Body& body);
    Flow execute(const Statement& statement);
    Flow executeIf(const Statement& statement);
    void executeFor(const Statement& statement);
    Flow executeWith(const Statement& statement);
    void defineMacro(const Statement& statement);
    void executeCallBlock(const Statement& statement);
    void executeSetBlock(const Statement& statement);
    void executeFilter(const Statement& statement);
    std::vector<Value> loopItems(const Statement& loop, const Value& over);
    void assign(const Expression& target, const Value& value);
    void unpack(const Expression& target, const Value& value);
    void write(const MarkedString& text);
    void write(const Value& value);
    ObjectPointer makeMacro(const Statement& statement, std::string name);

    // expressions.cpp
    Value evaluate(const Expression& expression);
    Value evaluateKind(const Expression& expression);
    Value evaluateName(const Expression& expression);
    Value evaluateDict(const Expression& expression);
    Value evaluateSlice(const Expression& expression);
    Value evaluateCall(const Expression& expression);
    Value evaluateFilter(const Expression& expression);
    Value evaluateConcatenation(const Expression& expression);
    Value evaluateCompare(const Expression& expression);
    std::vector<Value> evaluateAll(const std::vector<const Expression*>& parts);
    Arguments evaluateArguments(const CallArguments& call);

    const Ast& m_ast;
    const Dict& m_given;
    Date m_now;
    std::shared_ptr<Scope> m_scope;
    MarkedString* m_out = nullptr;
    const Value* m_blockInput = nullptr;  ///< what the innermost filter of a filter block works on
    int m_line = 0;
    int m_level = 0;
    std::uint64_t m_steps = 0;
    std::uint64_t m_bytes = 0;
    /// Scopes that macros refer to: kept here, not by the macros, which lie in them.
    std::vector<std::shared_ptr<Scope>> m_captured;
    std::vector<NamespacePointer> m_namespaces;  ///< emptied at the end: they may hold each other
};

/// range, namespace, raise_exception …; none for a name that is no function.
std::optional<Value> globalFunction(std::string_view name);

}  // namespace firsttoken::engine::jinja
