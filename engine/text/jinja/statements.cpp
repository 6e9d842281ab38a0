#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/loop.h"
#include "engine/text/jinja/macro.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/printing.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

/// Sets a value while it lives, then puts the old one back: also when an error passes through.
template <class T>
class Restore {
public:
    Restore(T& place, T value) : m_place(place), m_old(std::exchange(place, std::move(value))) {}
    ~Restore() { m_place = std::move(m_old); }
    Restore(const Restore&) = delete;
    Restore& operator=(const Restore&) = delete;

private:
    T& m_place;
    T m_old;
};

}  // namespace

MarkedString Interpreter::capture(const Body& body, std::shared_ptr<Scope> scope) {
    MarkedString text;
    const Restore<MarkedString*> out(m_out, &text);
    const Restore<std::shared_ptr<Scope>> inner(m_scope, std::move(scope));
    execute(body);
    return text;
}

Value Interpreter::evaluateIn(const Expression& expression, std::shared_ptr<Scope> scope) {
    const Restore<std::shared_ptr<Scope>> inner(m_scope, std::move(scope));
    return evaluate(expression);
}

void Interpreter::write(const MarkedString& text) {
    tick(text.size() / 64);
    m_out->append(text);
}

void Interpreter::write(const Value& value) {
    if (const MarkedString* text = value.string()) return write(*text);
    tick(value.extent().weight / 64);
    write(toText(value));
}

Interpreter::Flow Interpreter::execute(const Body& body) {
    for (const Statement* statement : body) {
        const Flow flow = execute(*statement);
        if (flow != Flow::Normal) return flow;
    }
    return Flow::Normal;
}

Interpreter::Flow Interpreter::execute(const Statement& statement) {
    const Level level(*this);
    tick();
    m_line = statement.line;
    switch (statement.kind) {
        case StatementKind::Data:
            write(statement.text);
            break;
        case StatementKind::Output:
            write(evaluate(*statement.expression));
            break;
        case StatementKind::If:
            return executeIf(statement);
        case StatementKind::For:
            executeFor(statement);
            break;
        case StatementKind::Set:
            assign(*statement.target, evaluate(*statement.expression));
            break;
        case StatementKind::SetBlock:
            executeSetBlock(statement);
            break;
        case StatementKind::With:
            return executeWith(statement);
        case StatementKind::Macro:
            defineMacro(statement);
            break;
        case StatementKind::CallBlock:
            executeCallBlock(statement);
            break;
        case StatementKind::Filter:
            executeFilter(statement);
            break;
        case StatementKind::Scope: {
            const Restore<std::shared_ptr<Scope>> inner(m_scope, std::make_shared<Scope>(m_scope));
            return execute(statement.body);
        }
        case StatementKind::Break:
            return Flow::Break;
        case StatementKind::Continue:
            return Flow::Continue;
    }
    return Flow::Normal;
}

Interpreter::Flow Interpreter::executeIf(const Statement& statement) {
    const Statement* branch = &statement;
    while (!isTrue(evaluate(*branch->expression))) {
        const Body& otherwise = branch->otherwise;
        if (otherwise.size() != 1 || otherwise[0]->kind != StatementKind::If) return execute(otherwise);
        branch = otherwise[0];  // an elif: chains of them are walked, not descended
        tick();
    }
    return execute(branch->body);
}

std::vector<Value> Interpreter::loopItems(const Statement& loop, const Value& over) {
    std::vector<Value> items = iterate(over);
    if (loop.condition == nullptr) return items;
    const Restore<std::shared_ptr<Scope>> inner(m_scope, std::make_shared<Scope>(m_scope));
    std::vector<Value> kept;
    for (Value& item : items) {
        assign(*loop.target, item);
        if (isTrue(evaluate(*loop.condition))) kept.push_back(std::move(item));
    }
    return kept;
}

void Interpreter::executeFor(const Statement& statement) {
    write(runLoop(statement, evaluate(*statement.expression), m_scope, 1));
}

MarkedString Interpreter::runLoop(const Statement& statement, const Value& over, std::shared_ptr<Scope> around,
                                  int depth) {
    MarkedString text;
    const Restore<MarkedString*> out(m_out, &text);
    const Restore<std::shared_ptr<Scope>> outer(m_scope, around);
    const auto loop = std::make_shared<Loop>(statement, around, loopItems(statement, over), depth);
    const Loop::Running running(*loop);
    bool completed = false;  // one round, to its end: else is for loops without any, as in Jinja
    for (; loop->valid(); loop->advance()) {
        tick();
        m_scope = std::make_shared<Scope>(around);
        assign(*statement.target, loop->item());
        m_scope->set("loop", Value(ObjectPointer(loop)));
        const Flow flow = execute(statement.body);
        if (flow == Flow::Break) break;
        completed = completed || flow == Flow::Normal;
    }
    if (!completed) {
        m_scope = std::make_shared<Scope>(around);
        execute(statement.otherwise);
    }
    return text;
}

void Interpreter::assign(const Expression& target, const Value& value) {
    m_line = target.line;
    switch (target.kind) {
        case ExpressionKind::Name:
            m_scope->set(target.name, value);
            return;
        case ExpressionKind::Tuple:
            unpack(target, value);
            return;
        default:
            break;
    }
    const Value base = evaluate(*target.parts[0]);
    if (base.nameSpace() == nullptr) throw TemplateError("cannot assign attribute on non-namespace object");
    base.nameSpace()->attributes.set(Value::text(target.name), value);
}

void Interpreter::unpack(const Expression& target, const Value& value) {
    const std::vector<Value> items = iterate(value);
    const std::size_t wanted = target.parts.size();
    if (items.size() > wanted) {
        throw TemplateError("too many values to unpack (expected " + std::to_string(wanted) + ")");
    }
    if (items.size() < wanted) {
        throw TemplateError("not enough values to unpack (expected " + std::to_string(wanted) + ", got " +
                            std::to_string(items.size()) + ")");
    }
    for (std::size_t i = 0; i < wanted; ++i) assign(*target.parts[i], items[i]);
}

Interpreter::Flow Interpreter::executeWith(const Statement& statement) {
    auto inner = std::make_shared<Scope>(m_scope);
    for (const auto& [target, expression] : statement.assignments) {
        const Value value = evaluate(*expression);
        const Restore<std::shared_ptr<Scope>> scope(m_scope, inner);
        assign(*target, value);
    }
    const Restore<std::shared_ptr<Scope>> scope(m_scope, inner);
    return execute(statement.body);
}

ObjectPointer Interpreter::makeMacro(const Statement& statement, std::string name) {
    tick(50);
    if (m_captured.empty() || m_captured.back() != m_scope) m_captured.push_back(m_scope);
    return std::make_shared<Macro>(statement, std::move(name), m_scope);
}

void Interpreter::defineMacro(const Statement& statement) {
    m_scope->set(statement.name, Value(makeMacro(statement, statement.name)));
}

void Interpreter::executeCallBlock(const Statement& statement) {
    const Expression& expression = *statement.expression;
    const Value callee = evaluate(*expression.parts[0]);
    Arguments arguments = evaluateArguments(expression.call);
    arguments.named.emplace_back("caller", Value(makeMacro(statement, "caller")));
    m_line = expression.line;
    write(call(callee, std::move(arguments)));
}

void Interpreter::executeSetBlock(const Statement& statement) {
    Value text = made(Value(capture(statement.body, std::make_shared<Scope>(m_scope))));
    if (statement.expression != nullptr) {
        const Restore<const Value*> input(m_blockInput, &text);
        text = evaluate(*statement.expression);
    }
    assign(*statement.target, text);
}

void Interpreter::executeFilter(const Statement& statement) {
    const Value text = made(Value(capture(statement.body, std::make_shared<Scope>(m_scope))));
    const Restore<const Value*> input(m_blockInput, &text);
    write(evaluate(*statement.expression));
}

}  // namespace firsttoken::engine::jinja
