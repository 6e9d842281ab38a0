#include "engine/text/jinja/parser.h"

#include <algorithm>

#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

Parser::Parser(std::string_view source) : m_tokens(tokenizeTemplate(source)), m_ast(std::make_unique<Ast>()) {}

Parser::Nesting::Nesting(Parser& parser) : m_parser(parser) {
    if (m_parser.m_nesting >= maxNesting) {
        m_parser.fail("the template is nested too deep (" + std::to_string(maxNesting) + " levels)");
    }
    ++m_parser.m_nesting;
}

std::unique_ptr<Ast> Parser::run() {
    m_ast->body = parseBody({}, "", 0).body;
    return std::move(m_ast);
}

const Token& Parser::ahead(std::size_t count) const { return m_tokens[std::min(m_at + count, m_tokens.size() - 1)]; }

Token Parser::next() {
    const Token token = current();
    if (token.kind != TokenKind::End) ++m_at;
    return token;
}

bool Parser::skipOperator(std::string_view symbol) {
    if (!current().isOperator(symbol)) return false;
    next();
    return true;
}

bool Parser::skipName(std::string_view name) {
    if (!current().isName(name)) return false;
    next();
    return true;
}

void Parser::expectOperator(std::string_view symbol) {
    if (!skipOperator(symbol)) fail("expected '" + std::string(symbol) + "', got " + describe(current()));
}

std::string Parser::expectName() {
    if (current().kind != TokenKind::Name) fail("expected a name, got " + describe(current()));
    return next().text;
}

void Parser::expectBlockEnd() {
    if (current().kind != TokenKind::BlockEnd) fail("expected the end of the statement, got " + describe(current()));
    next();
}

void Parser::fail(const std::string& message) const { throw TemplateError(message, current().line); }

void Parser::failUnexpected() const { fail("unexpected " + describe(current())); }

Expression& Parser::makeExpression(ExpressionKind kind, int line) {
    Expression& expression = m_ast->expressions.emplace_back();
    expression.kind = kind;
    expression.line = line;
    return expression;
}

Statement& Parser::makeStatement(StatementKind kind, int line) {
    Statement& statement = m_ast->statements.emplace_back();
    statement.kind = kind;
    statement.line = line;
    return statement;
}

const Expression* Parser::finish(Expression& expression) const {
    int inner = 0;
    const auto include = [&inner](const Expression* part) {
        if (part != nullptr) inner = std::max(inner, part->depth);
    };
    for (const Expression* part : expression.parts) include(part);
    for (const Expression* part : expression.call.positional) include(part);
    for (const auto& [name, part] : expression.call.named) include(part);
    include(expression.call.morePositional);
    include(expression.call.moreNamed);
    expression.depth = inner + 1;
    if (expression.depth > maxExpressionDepth) {
        throw TemplateError("an expression is too long (" + std::to_string(maxExpressionDepth) + " levels)",
                            expression.line);
    }
    return &expression;
}

}  // namespace firsttoken::engine::jinja
