#pragma once

#include "engine/text/jinja/interpreter.h"

namespace firsttoken::engine::jinja {

/// A macro, or the caller() of a call block.
class Macro final : public Object {
public:
    /// The interpreter keeps the scope alive: the macro lies in it, so it must not do so itself.
    Macro(const Statement& statement, std::string name, std::weak_ptr<Scope> scope);

    Value call(Interpreter& interpreter, Arguments arguments) override;
    std::optional<Value> attribute(Interpreter& interpreter, std::string_view name) override;
    std::string description() const override { return "<Macro '" + m_name + "'>"; }

private:
    void bindParameters(Interpreter& interpreter, Arguments& arguments, const std::shared_ptr<Scope>& scope) const;
    void bindRest(Arguments& arguments, Scope& scope) const;

    const Statement& m_statement;
    std::string m_name;
    std::weak_ptr<Scope> m_scope;
};

}  // namespace firsttoken::engine::jinja
