#include "engine/text/jinja/macro.h"

#include <algorithm>

#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

Macro::Macro(const Statement& statement, std::string name, std::weak_ptr<Scope> scope)
    : m_statement(statement), m_name(std::move(name)), m_scope(std::move(scope)) {}

void Macro::bindParameters(Interpreter& interpreter, Arguments& arguments, const std::shared_ptr<Scope>& scope) const {
    const auto& parameters = m_statement.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Parameter& parameter = parameters[i];
        const auto named = std::find_if(arguments.named.begin(), arguments.named.end(),
                                        [&](const auto& argument) { return argument.first == parameter.name; });
        if (named != arguments.named.end()) {
            if (i < arguments.positional.size()) {
                throw TemplateError("macro '" + m_name + "' got multiple values for argument '" + parameter.name + "'");
            }
            scope->set(parameter.name, std::move(named->second));
            arguments.named.erase(named);
        } else if (i < arguments.positional.size()) {
            scope->set(parameter.name, arguments.positional[i]);
        } else if (parameter.fallback != nullptr) {
            scope->set(parameter.name, interpreter.evaluateIn(*parameter.fallback, scope));
        } else {
            scope->set(parameter.name, Value::undefined("parameter '" + parameter.name + "' was not provided"));
        }
    }
}

void Macro::bindRest(Arguments& arguments, Scope& scope) const {
    const std::size_t parameters = m_statement.parameters.size();
    std::vector<Value> more;
    for (std::size_t i = parameters; i < arguments.positional.size(); ++i) more.push_back(arguments.positional[i]);
    if (m_statement.usesVarargs) {
        scope.set("varargs", Value::tuple(std::move(more)));
    } else if (!more.empty()) {
        throw TemplateError("macro '" + m_name + "' takes not more than " + std::to_string(parameters) +
                            " argument(s)");
    }
    const auto caller = std::find_if(arguments.named.begin(), arguments.named.end(),
                                     [](const auto& argument) { return argument.first == "caller"; });
    if (m_statement.usesCaller) {
        const bool given = caller != arguments.named.end();
        scope.set("caller", given ? std::move(caller->second) : Value::undefined("No caller defined"));
        if (given) arguments.named.erase(caller);
    }
    if (m_statement.usesKwargs) {
        Dict rest;
        for (auto& [name, value] : arguments.named) rest.set(Value::text(name), std::move(value));
        scope.set("kwargs", Value(std::move(rest)));
    } else if (!arguments.named.empty()) {
        throw TemplateError("macro '" + m_name + "' takes no keyword argument '" + arguments.named[0].first + "'");
    }
}

Value Macro::call(Interpreter& interpreter, Arguments arguments) {
    const auto scope = std::make_shared<Scope>(m_scope.lock());
    bindParameters(interpreter, arguments, scope);
    bindRest(arguments, *scope);
    return Value(interpreter.capture(m_statement.body, scope));
}

std::optional<Value> Macro::attribute(Interpreter&, std::string_view name) {
    if (name == "name") return Value::text(m_name);
    if (name == "arguments") {
        std::vector<Value> names;
        for (const Parameter& parameter : m_statement.parameters) names.push_back(Value::text(parameter.name));
        return Value::tuple(std::move(names));
    }
    if (name == "catch_varargs") return Value(m_statement.usesVarargs);
    if (name == "catch_kwargs") return Value(m_statement.usesKwargs);
    if (name == "caller") return Value(m_statement.usesCaller);
    return std::nullopt;
}

}  // namespace firsttoken::engine::jinja
