#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/printing.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

Value Interpreter::evaluate(const Expression& expression) {
    const Level level(*this);
    tick();
    m_line = expression.line;
    return evaluateKind(expression);
}

Value Interpreter::evaluateKind(const Expression& e) {
    // Evaluating a part moves m_line on: what follows it is again about this expression.
    const auto part = [this, &e](std::size_t index) {
        Value value = evaluate(*e.parts[index]);
        m_line = e.line;
        return value;
    };
    switch (e.kind) {
        case ExpressionKind::Constant:
            return e.constant;
        case ExpressionKind::Name:
            return evaluateName(e);
        case ExpressionKind::List:
            return made(Value::list(evaluateAll(e.parts)));
        case ExpressionKind::Tuple:
            return made(Value::tuple(evaluateAll(e.parts)));
        case ExpressionKind::Dict:
            return evaluateDict(e);
        case ExpressionKind::Attribute:
            return attribute(part(0), e.name);
        case ExpressionKind::Item: {
            const Value base = part(0);
            return made(item(base, part(1)));
        }
        case ExpressionKind::Slice:
            return evaluateSlice(e);
        case ExpressionKind::Call:
            return evaluateCall(e);
        case ExpressionKind::Filter:
            return evaluateFilter(e);
        case ExpressionKind::Test: {
            const Value input = part(0);
            Arguments arguments = evaluateArguments(e.call);
            m_line = e.line;
            return Value(applyTest(e.name, input, std::move(arguments)));
        }
        case ExpressionKind::Not:
            return Value(!isTrue(part(0)));
        case ExpressionKind::Negate:
            return negate(part(0));
        case ExpressionKind::Positive:
            return positive(part(0));
        case ExpressionKind::And: {
            Value left = part(0);
            return isTrue(left) ? part(1) : left;
        }
        case ExpressionKind::Or: {
            Value left = part(0);
            return isTrue(left) ? left : part(1);
        }
        case ExpressionKind::Arithmetic: {
            const Value left = part(0);
            const Value right = part(1);
            return made(arithmetic(e.arithmetic, left, right));
        }
        case ExpressionKind::Concatenate:
            return evaluateConcatenation(e);
        case ExpressionKind::Compare:
            return evaluateCompare(e);
        case ExpressionKind::Conditional:
            if (isTrue(part(0))) return part(1);
            if (e.parts[2] != nullptr) return part(2);
            return Value::undefined("the inline if-expression evaluated to false and no else section was defined.");
    }
    return Value();
}

Value Interpreter::evaluateName(const Expression& expression) {
    for (const Scope* scope = m_scope.get(); scope != nullptr; scope = scope->parent.get()) {
        if (const Value* value = scope->find(expression.name)) return *value;
    }
    if (const Value* value = m_given.find(expression.name)) return *value;
    if (auto function = globalFunction(expression.name)) return *std::move(function);
    return Value::undefined("'" + expression.name + "' is undefined");
}

std::vector<Value> Interpreter::evaluateAll(const std::vector<const Expression*>& parts) {
    std::vector<Value> values;
    values.reserve(parts.size());
    for (const Expression* part : parts) values.push_back(evaluate(*part));
    return values;
}

Value Interpreter::evaluateDict(const Expression& expression) {
    Dict dict;
    for (std::size_t i = 0; i < expression.parts.size(); i += 2) {
        Value key = evaluate(*expression.parts[i]);
        Value value = evaluate(*expression.parts[i + 1]);
        dict.set(std::move(key), std::move(value));
    }
    return made(Value(std::move(dict)));
}

Value Interpreter::evaluateSlice(const Expression& expression) {
    const auto part = [&](std::size_t index) {
        return expression.parts[index] == nullptr ? Value() : evaluate(*expression.parts[index]);
    };
    const Value base = part(0);
    const Value start = part(1);
    const Value stop = part(2);
    const Value step = part(3);
    m_line = expression.line;
    return made(slice(base, start, stop, step));
}

Arguments Interpreter::evaluateArguments(const CallArguments& call) {
    Arguments arguments;
    arguments.positional = evaluateAll(call.positional);
    for (const auto& [name, expression] : call.named) arguments.named.emplace_back(name, evaluate(*expression));
    if (call.morePositional != nullptr) {
        for (Value& value : iterate(evaluate(*call.morePositional))) arguments.positional.push_back(std::move(value));
    }
    if (call.moreNamed != nullptr) {
        const Value more = evaluate(*call.moreNamed);
        if (more.dict() == nullptr) throw TemplateError("argument after ** must be a mapping");
        for (const auto& [key, value] : more.dict()->items()) {
            if (key.string() == nullptr) throw TemplateError("keywords must be strings");
            arguments.named.emplace_back(key.string()->bytes(), value);
        }
    }
    return arguments;
}

Value Interpreter::evaluateCall(const Expression& expression) {
    const Value callee = evaluate(*expression.parts[0]);
    Arguments arguments = evaluateArguments(expression.call);
    m_line = expression.line;
    return call(callee, std::move(arguments));
}

Value Interpreter::evaluateFilter(const Expression& expression) {
    const Value input = expression.parts[0] == nullptr ? *m_blockInput : evaluate(*expression.parts[0]);
    Arguments arguments = evaluateArguments(expression.call);
    m_line = expression.line;
    return applyFilter(expression.name, input, std::move(arguments));
}

Value Interpreter::evaluateConcatenation(const Expression& expression) {
    MarkedString text;
    for (const Expression* part : expression.parts) {
        const Value value = evaluate(*part);
        tick(value.extent().weight / 64);
        text.append(toText(value));
    }
    return made(Value(std::move(text)));
}

Value Interpreter::evaluateCompare(const Expression& expression) {
    Value left = evaluate(*expression.parts[0]);
    for (std::size_t i = 0; i < expression.compares.size(); ++i) {
        Value right = evaluate(*expression.parts[i + 1]);
        m_line = expression.line;
        tick((left.extent().weight + right.extent().weight) / 64);
        if (!compare(expression.compares[i], left, right)) return Value(false);
        left = std::move(right);
    }
    return Value(true);
}

}  // namespace firsttoken::engine::jinja
