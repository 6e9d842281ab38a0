#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "engine/text/jinja/parser.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

std::optional<Compare> comparison(const Token& token) {
    if (token.kind != TokenKind::Operator) return std::nullopt;
    struct Symbol {
        std::string_view text;
        Compare how;
    };
    constexpr std::array<Symbol, 6> symbols = {{{"==", Compare::Equal},
                                                {"!=", Compare::Unequal},
                                                {"<", Compare::Less},
                                                {"<=", Compare::LessEqual},
                                                {">", Compare::Greater},
                                                {">=", Compare::GreaterEqual}}};
    const auto found =
        std::find_if(symbols.begin(), symbols.end(), [&](const Symbol& symbol) { return symbol.text == token.text; });
    return found == symbols.end() ? std::optional<Compare>() : found->how;
}

}  // namespace

const Expression* Parser::binary(Arithmetic how, int line, const Expression* left, const Expression* right) {
    Expression& expression = makeExpression(ExpressionKind::Arithmetic, line);
    expression.arithmetic = how;
    expression.parts = {left, right};
    return finish(expression);
}

const Expression* Parser::parseExpression(bool conditional) {
    const Nesting nesting(*this);
    return conditional ? parseConditional() : parseOr();
}

const Expression* Parser::parseConditional() {
    const Expression* value = parseOr();
    while (current().isName("if")) {
        Expression& expression = makeExpression(ExpressionKind::Conditional, next().line);
        const Expression* condition = parseOr();
        const Expression* otherwise = nullptr;
        if (skipName("else")) {
            const Nesting nesting(*this);
            otherwise = parseConditional();
        }
        expression.parts = {condition, value, otherwise};
        value = finish(expression);
    }
    return value;
}

const Expression* Parser::parseOr() {
    const Expression* left = parseAnd();
    while (current().isName("or")) {
        Expression& expression = makeExpression(ExpressionKind::Or, next().line);
        expression.parts = {left, parseAnd()};
        left = finish(expression);
    }
    return left;
}

const Expression* Parser::parseAnd() {
    const Expression* left = parseNot();
    while (current().isName("and")) {
        Expression& expression = makeExpression(ExpressionKind::And, next().line);
        expression.parts = {left, parseNot()};
        left = finish(expression);
    }
    return left;
}

const Expression* Parser::parseNot() {
    if (!current().isName("not")) return parseCompare();
    const Nesting nesting(*this);
    Expression& expression = makeExpression(ExpressionKind::Not, next().line);
    expression.parts = {parseNot()};
    return finish(expression);
}

const Expression* Parser::parseCompare() {
    const int line = current().line;
    const Expression* first = parseSum();
    std::vector<const Expression*> parts = {first};
    std::vector<Compare> compares;
    while (true) {
        if (const auto how = comparison(current())) {
            next();
            compares.push_back(*how);
        } else if (skipName("in")) {
            compares.push_back(Compare::In);
        } else if (current().isName("not") && ahead(1).isName("in")) {
            next();
            next();
            compares.push_back(Compare::NotIn);
        } else {
            break;
        }
        parts.push_back(parseSum());
    }
    if (compares.empty()) return first;
    Expression& expression = makeExpression(ExpressionKind::Compare, line);
    expression.parts = std::move(parts);
    expression.compares = std::move(compares);
    return finish(expression);
}

const Expression* Parser::parseSum() {
    const Expression* left = parseConcatenation();
    while (current().isOperator("+") || current().isOperator("-")) {
        const Token symbol = next();
        const Expression* right = parseConcatenation();
        left = binary(symbol.text == "+" ? Arithmetic::Add : Arithmetic::Subtract, symbol.line, left, right);
    }
    return left;
}

const Expression* Parser::parseConcatenation() {
    const int line = current().line;
    std::vector<const Expression*> parts = {parseProduct()};
    while (skipOperator("~")) parts.push_back(parseProduct());
    if (parts.size() == 1) return parts[0];
    Expression& expression = makeExpression(ExpressionKind::Concatenate, line);
    expression.parts = std::move(parts);
    return finish(expression);
}

const Expression* Parser::parseProduct() {
    const Expression* left = parsePower();
    while (true) {
        Arithmetic how = Arithmetic::Multiply;
        if (current().isOperator("/")) {
            how = Arithmetic::Divide;
        } else if (current().isOperator("//")) {
            how = Arithmetic::FloorDivide;
        } else if (current().isOperator("%")) {
            how = Arithmetic::Modulo;
        } else if (!current().isOperator("*")) {
            return left;
        }
        const int line = next().line;
        left = binary(how, line, left, parsePower());
    }
}

const Expression* Parser::parsePower() {
    const Expression* left = parseUnary();
    while (current().isOperator("**")) {
        const int line = next().line;
        left = binary(Arithmetic::Power, line, left, parseUnary());
    }
    return left;
}

const Expression* Parser::parseUnary(bool withFilters) {
    const Expression* value = nullptr;
    if (current().isOperator("-") || current().isOperator("+")) {
        const Nesting nesting(*this);
        const Token symbol = next();
        Expression& expression =
            makeExpression(symbol.text == "-" ? ExpressionKind::Negate : ExpressionKind::Positive, symbol.line);
        expression.parts = {parseUnary(false)};
        value = finish(expression);
    } else {
        value = parsePrimary();
    }
    value = parsePostfix(value);
    return withFilters ? parseFilters(value) : value;
}

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
