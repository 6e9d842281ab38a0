#include <algorithm>
#include <array>
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

}  // namespace firsttoken::engine::jinja
