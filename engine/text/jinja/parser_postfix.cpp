#include "engine/text/jinja/parser.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

const Expression* Parser::parsePostfix(const Expression* base) {
    while (true) {
        if (current().isOperator(".") || current().isOperator("[")) {
            base = parseSubscript(base);
        } else if (current().isOperator("(")) {
            base = parseCall(base);
        } else {
            return base;
        }
    }
}

const Expression* Parser::parseFilters(const Expression* base) {
    while (true) {
        if (skipOperator("|")) {
            base = parseFilter(base);
        } else if (base != nullptr && current().isName("is")) {
            base = parseTest(base);
        } else if (base != nullptr && current().isOperator("(")) {
            base = parseCall(base);
        } else {
            return base;
        }
    }
}

std::string Parser::parseDottedName() {
    std::string name = expectName();
    while (skipOperator(".")) name += "." + expectName();
    return name;
}

const Expression* Parser::parseFilter(const Expression* base) {
    Expression& filter = makeExpression(ExpressionKind::Filter, current().line);
    filter.parts = {base};
    filter.name = parseDottedName();
    if (current().isOperator("(")) filter.call = parseCallArguments();
    return finish(filter);
}

const Expression* Parser::parseTest(const Expression* base) {
    Expression& test = makeExpression(ExpressionKind::Test, next().line);
    const bool negated = skipName("not");
    test.parts = {base};
    test.name = parseDottedName();
    const Token& token = current();
    const bool word = token.kind == TokenKind::Name && token.text != "else" && token.text != "or" &&
                      token.text != "and" && token.text != "is";
    const bool literal = token.kind == TokenKind::String || token.kind == TokenKind::Integer ||
                         token.kind == TokenKind::Float || token.isOperator("[") || token.isOperator("{");
    if (token.isName("is")) fail("tests cannot be chained with 'is'");
    if (token.isOperator("(")) {
        test.call = parseCallArguments();
    } else if (word || literal) {
        const Nesting nesting(*this);
        test.call.positional = {parsePostfix(parsePrimary())};
    }
    const Expression* done = finish(test);
    if (!negated) return done;
    Expression& inverse = makeExpression(ExpressionKind::Not, test.line);
    inverse.parts = {done};
    return finish(inverse);
}

const Expression* Parser::parseSubscript(const Expression* base) {
    const Token opener = next();
    if (opener.text == ".") {
        if (current().kind == TokenKind::Integer) {
            Expression& item = makeExpression(ExpressionKind::Item, opener.line);
            item.parts = {base, number(current())};
            next();
            return finish(item);
        }
        Expression& attribute = makeExpression(ExpressionKind::Attribute, opener.line);
        attribute.parts = {base};
        attribute.name = expectName();
        return finish(attribute);
    }
    const auto atEnd = [this] { return current().isOperator("]") || current().isOperator(":"); };
    const Expression* start = atEnd() ? nullptr : parseExpression();
    if (!current().isOperator(":")) {
        if (start == nullptr) fail("expected an index, got " + describe(current()));
        expectOperator("]");
        Expression& item = makeExpression(ExpressionKind::Item, opener.line);
        item.parts = {base, start};
        return finish(item);
    }
    Expression& slice = makeExpression(ExpressionKind::Slice, opener.line);
    slice.parts = {base, start, nullptr, nullptr};
    for (std::size_t part = 2; part < 4 && skipOperator(":"); ++part) {
        if (!atEnd()) slice.parts[part] = parseExpression();
    }
    expectOperator("]");
    return finish(slice);
}

const Expression* Parser::parseCall(const Expression* base) {
    Expression& call = makeExpression(ExpressionKind::Call, current().line);
    call.parts = {base};
    call.call = parseCallArguments();
    return finish(call);
}

CallArguments Parser::parseCallArguments() {
    CallArguments arguments;
    expectOperator("(");
    bool first = true;
    while (!current().isOperator(")")) {
        if (!first) expectOperator(",");
        first = false;
        if (current().isOperator(")")) break;
        const bool none = arguments.morePositional == nullptr && arguments.moreNamed == nullptr;
        if (skipOperator("*")) {
            if (!none) fail("invalid syntax in a call");
            arguments.morePositional = parseExpression();
        } else if (skipOperator("**")) {
            if (arguments.moreNamed != nullptr) fail("invalid syntax in a call");
            arguments.moreNamed = parseExpression();
        } else if (current().kind == TokenKind::Name && ahead(1).isOperator("=")) {
            if (arguments.moreNamed != nullptr) fail("invalid syntax in a call");
            std::string name = next().text;
            next();
            arguments.named.emplace_back(std::move(name), parseExpression());
        } else {
            if (!none || !arguments.named.empty()) fail("a positional argument follows a named one");
            arguments.positional.push_back(parseExpression());
        }
    }
    expectOperator(")");
    return arguments;
}

}  // namespace firsttoken::engine::jinja
