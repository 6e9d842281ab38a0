#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/value.h"

/// A parsed template. Nodes live in the Ast's arenas and point at each other; immutable after parsing.
namespace firsttoken::engine::jinja {

enum class ExpressionKind : std::uint8_t {
    Constant,   ///< constant
    Name,       ///< name
    List,       ///< parts
    Tuple,      ///< parts
    Dict,       ///< parts: key, value, key, value …
    Attribute,  ///< parts[0].name
    Item,       ///< parts[0][parts[1]]
    Slice,      ///< parts[0][parts[1]:parts[2]:parts[3]], null where left out
    Call,       ///< parts[0](call)
    Filter,     ///< parts[0] | name(call); parts[0] null: the body of a filter block
    Test,       ///< parts[0] is name(call)
    Not,
    Negate,
    Positive,
    And,
    Or,
    Arithmetic,   ///< parts[0] arithmetic parts[1]
    Concatenate,  ///< parts joined by ~
    Compare,      ///< parts[0] compares[0] parts[1] compares[1] …
    Conditional,  ///< parts[1] if parts[0] else parts[2] (may be null)
};

struct Expression;

struct CallArguments {
    std::vector<const Expression*> positional;
    std::vector<std::pair<std::string, const Expression*>> named;
    const Expression* morePositional = nullptr;  ///< *args
    const Expression* moreNamed = nullptr;       ///< **kwargs
};

struct Expression {
    ExpressionKind kind = ExpressionKind::Constant;
    int line = 0;
    int depth = 1;  ///< levels of expressions under it, itself included
    std::string name;
    Value constant;
    std::vector<const Expression*> parts;
    CallArguments call;
    std::vector<Compare> compares;
    Arithmetic arithmetic = Arithmetic::Add;
};

enum class StatementKind : std::uint8_t {
    Data,       ///< text
    Output,     ///< expression
    If,         ///< expression, body, otherwise (an elif is an If in it)
    For,        ///< target in expression [if condition], body, otherwise; recursive
    Set,        ///< target = expression
    SetBlock,   ///< target = body, through the filter `expression` if there is one
    With,       ///< assignments, body
    Macro,      ///< name, parameters, body
    CallBlock,  ///< expression is the Call; parameters of caller(), body
    Filter,     ///< expression is the outermost Filter, whose innermost part is null; body
    Scope,      ///< body: {% generation %}
    Break,
    Continue,
};

struct Statement;
using Body = std::vector<const Statement*>;

struct Parameter {
    std::string name;
    const Expression* fallback = nullptr;
};

struct Statement {
    StatementKind kind = StatementKind::Data;
    int line = 0;
    MarkedString text;
    std::string name;
    const Expression* target = nullptr;  ///< Name, Attribute of a Name (a namespace's), or Tuple of those
    const Expression* expression = nullptr;
    const Expression* condition = nullptr;
    bool recursive = false;
    std::vector<Parameter> parameters;
    bool usesVarargs = false, usesKwargs = false, usesCaller = false;  ///< of a macro: names its body mentions
    std::vector<std::pair<const Expression*, const Expression*>> assignments;
    Body body;
    Body otherwise;
};

/// Owns all nodes. Not copyable: nodes point into it.
struct Ast {
    Ast() = default;
    Ast(const Ast&) = delete;
    Ast& operator=(const Ast&) = delete;

    std::deque<Expression> expressions;
    std::deque<Statement> statements;
    Body body;
};

}  // namespace firsttoken::engine::jinja
