#include <charconv>

#include "engine/text/jinja/parser.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

const Expression* Parser::number(const Token& token) {
    Expression& expression = makeExpression(ExpressionKind::Constant, token.line);
    const std::string& text = token.text;
    const char* const last = text.data() + text.size();
    if (token.kind == TokenKind::Float) {
        double value = 0;
        const auto read = std::from_chars(text.data(), last, value);
        if (read.ec != std::errc() || read.ptr != last) fail("'" + text + "' is no number");
        expression.constant = Value(value);
        return finish(expression);
    }
    const char mark = text.size() > 1 ? static_cast<char>(text[1] | 0x20) : '\0';
    const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data() + (base == 10 ? 0 : 2), last, value, base);
    if (read.ec != std::errc() || read.ptr != last) fail("the number " + text + " is not supported (64-bit integers)");
    expression.constant = Value(value);
    return finish(expression);
}

const Expression* Parser::parsePrimary() {
    const Token token = current();
    switch (token.kind) {
        case TokenKind::Name: {
            next();
            const bool isTrue = token.text == "true" || token.text == "True";
            const bool isFalse = token.text == "false" || token.text == "False";
            const bool isNone = token.text == "none" || token.text == "None";
            const bool constant = isTrue || isFalse || isNone;
            Expression& expression =
                makeExpression(constant ? ExpressionKind::Constant : ExpressionKind::Name, token.line);
            expression.name = token.text;
            if (isTrue || isFalse) expression.constant = Value(isTrue);
            if (m_macro != nullptr) {
                m_macro->usesVarargs = m_macro->usesVarargs || token.text == "varargs";
                m_macro->usesKwargs = m_macro->usesKwargs || token.text == "kwargs";
                m_macro->usesCaller = m_macro->usesCaller || token.text == "caller";
            }
            return finish(expression);
        }
        case TokenKind::String: {
            std::string text;
            while (current().kind == TokenKind::String) text += next().text;
            Expression& expression = makeExpression(ExpressionKind::Constant, token.line);
            expression.constant = Value::text(std::move(text));
            return finish(expression);
        }
        case TokenKind::Integer:
        case TokenKind::Float: {
            const Expression* value = number(token);
            next();
            return value;
        }
        default:
            break;
    }
    if (skipOperator("(")) {
        const Expression* tuple = parseTuple(true, true);
        expectOperator(")");
        return tuple;
    }
    if (token.isOperator("[")) return parseList();
    if (token.isOperator("{")) return parseDict();
    failUnexpected();
}

bool Parser::atTupleEnd() const {
    const Token& token = current();
    return token.kind == TokenKind::VariableEnd || token.kind == TokenKind::BlockEnd || token.isOperator(")");
}

const Expression* Parser::parseTuple(bool conditional, bool emptyAllowed) {
    const int line = current().line;
    std::vector<const Expression*> items;
    bool isTuple = false;
    while (true) {
        if (!items.empty()) expectOperator(",");
        if (atTupleEnd()) break;
        items.push_back(parseExpression(conditional));
        if (!current().isOperator(",")) break;
        isTuple = true;
    }
    if (!isTuple && !items.empty()) return items[0];
    if (!isTuple && !emptyAllowed) fail("expected an expression, got " + describe(current()));
    Expression& expression = makeExpression(ExpressionKind::Tuple, line);
    expression.parts = std::move(items);
    return finish(expression);
}

const Expression* Parser::parseOneTarget(bool withAttribute) {
    if (skipOperator("(")) {
        const Nesting nesting(*this);
        const Expression* inner = parseTarget(false);
        expectOperator(")");
        return inner;
    }
    const int line = current().line;
    Expression& name = makeExpression(ExpressionKind::Name, line);
    name.name = expectName();
    for (const std::string_view reserved : {"true", "false", "none", "True", "False", "None", "loop"}) {
        if (name.name == reserved) throw TemplateError("can't assign to '" + name.name + "'", line);
    }
    if (!withAttribute || !skipOperator(".")) return finish(name);
    Expression& attribute = makeExpression(ExpressionKind::Attribute, line);
    attribute.parts = {finish(name)};
    attribute.name = expectName();
    return finish(attribute);
}

const Expression* Parser::parseTarget(bool withAttribute) {
    const int line = current().line;
    const Expression* first = parseOneTarget(withAttribute);
    if (!current().isOperator(",")) return first;
    Expression& tuple = makeExpression(ExpressionKind::Tuple, line);
    tuple.parts = {first};
    while (skipOperator(",")) {
        const Token& token = current();
        if (token.isName("in") || token.isOperator("=") || token.isOperator(")")) break;
        tuple.parts.push_back(parseOneTarget(withAttribute));
    }
    return finish(tuple);
}

const Expression* Parser::parseList() {
    Expression& list = makeExpression(ExpressionKind::List, next().line);
    while (!current().isOperator("]")) {
        if (!list.parts.empty()) expectOperator(",");
        if (current().isOperator("]")) break;
        list.parts.push_back(parseExpression());
    }
    expectOperator("]");
    return finish(list);
}

const Expression* Parser::parseDict() {
    Expression& dict = makeExpression(ExpressionKind::Dict, next().line);
    while (!current().isOperator("}")) {
        if (!dict.parts.empty()) expectOperator(",");
        if (current().isOperator("}")) break;
        dict.parts.push_back(parseExpression());
        expectOperator(":");
        dict.parts.push_back(parseExpression());
    }
    expectOperator("}");
    return finish(dict);
}

}  // namespace firsttoken::engine::jinja
