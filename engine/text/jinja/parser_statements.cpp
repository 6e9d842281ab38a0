#include <algorithm>

#include "engine/text/jinja/parser.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

Parser::Ended Parser::parseBody(std::initializer_list<std::string_view> ends, std::string_view opener, int openerLine) {
    const Nesting nesting(*this);
    Ended out;
    while (true) {
        const Token token = next();
        switch (token.kind) {
            case TokenKind::Data: {
                Statement& data = makeStatement(StatementKind::Data, token.line);
                data.text = trusted(token.text);
                out.body.push_back(&data);
                break;
            }
            case TokenKind::VariableBegin: {
                Statement& output = makeStatement(StatementKind::Output, token.line);
                output.expression = parseTuple(true, false);
                if (current().kind != TokenKind::VariableEnd) {
                    fail("expected the end of the expression, got " + describe(current()));
                }
                next();
                out.body.push_back(&output);
                break;
            }
            case TokenKind::BlockBegin:
                if (current().kind == TokenKind::Name &&
                    std::find(ends.begin(), ends.end(), current().text) != ends.end()) {
                    out.by = next().text;
                    return out;
                }
                out.body.push_back(parseStatement());
                break;
            default:
                if (ends.size() == 0) return out;
                throw TemplateError("{% " + std::string(opener) + " %} is not closed: {% " +
                                        std::string(*(ends.end() - 1)) + " %} is missing",
                                    openerLine);
        }
    }
}

Body Parser::parseBodyTo(std::string_view end, std::string_view opener, int openerLine) {
    Body body = parseBody({end}, opener, openerLine).body;
    if (end == "endmacro" || end == "endcall" || end == "endset") {
        if (current().kind == TokenKind::Name) next();  // {% endmacro name %}
    }
    expectBlockEnd();
    return body;
}

const Statement* Parser::parseStatement() {
    const int line = current().line;
    if (current().kind != TokenKind::Name) fail("expected the name of a statement, got " + describe(current()));
    const std::string name = next().text;
    if (name == "if") return parseIf(line);
    if (name == "for") return parseFor(line);
    if (name == "set") return parseSet(line);
    if (name == "with") return parseWith(line);
    if (name == "macro") return parseMacro(line);
    if (name == "call") return parseCallBlock(line);
    if (name == "filter") return parseFilterBlock(line);
    if (name == "break" || name == "continue") return parseLoopControl(name, line);
    if (name == "generation") {
        Statement& scope = makeStatement(StatementKind::Scope, line);
        expectBlockEnd();
        scope.body = parseBodyTo("endgeneration", name, line);
        return &scope;
    }
    for (const std::string_view known :
         {"include", "import", "from", "extends", "block", "autoescape", "do", "trans"}) {
        if (name == known) {
            throw TemplateError("{% " + name +
                                    " %} is not supported (supported: if, for, set, with, macro, call, "
                                    "filter, break, continue, generation, raw)",
                                line);
        }
    }
    throw TemplateError("unknown statement '" + name + "'", line);
}

const Statement* Parser::parseIf(int line) {
    Statement& statement = makeStatement(StatementKind::If, line);
    Statement* branch = &statement;
    while (true) {
        branch->expression = parseTuple(false, false);
        expectBlockEnd();
        Ended ended = parseBody({"elif", "else", "endif"}, "if", line);
        branch->body = std::move(ended.body);
        if (ended.by == "elif") {
            // Flat in the source, so the chain must not count as nesting: it is walked by a loop.
            Statement& following = makeStatement(StatementKind::If, current().line);
            branch->otherwise = {&following};
            branch = &following;
            continue;
        }
        if (ended.by == "else") {
            expectBlockEnd();
            branch->otherwise = parseBody({"endif"}, "else", line).body;
        }
        expectBlockEnd();
        return &statement;
    }
}

const Statement* Parser::parseFor(int line) {
    Statement& statement = makeStatement(StatementKind::For, line);
    statement.target = parseTarget(false);
    if (!skipName("in")) fail("expected 'in', got " + describe(current()));
    statement.expression = parseTuple(false, false);
    if (skipName("if")) statement.condition = parseExpression();
    statement.recursive = skipName("recursive");
    expectBlockEnd();
    ++m_loops;
    Ended ended = parseBody({"else", "endfor"}, "for", line);
    --m_loops;
    statement.body = std::move(ended.body);
    if (ended.by == "else") {
        expectBlockEnd();
        statement.otherwise = parseBody({"endfor"}, "else", line).body;
    }
    expectBlockEnd();
    return &statement;
}

const Statement* Parser::parseSet(int line) {
    Statement& statement = makeStatement(StatementKind::Set, line);
    statement.target = parseTarget(true);
    if (skipOperator("=")) {
        statement.expression = parseTuple(true, false);
        expectBlockEnd();
        return &statement;
    }
    statement.kind = StatementKind::SetBlock;
    if (current().isOperator("|")) statement.expression = parseFilters(nullptr);
    expectBlockEnd();
    statement.body = parseBodyTo("endset", "set", line);
    return &statement;
}

const Statement* Parser::parseWith(int line) {
    Statement& statement = makeStatement(StatementKind::With, line);
    while (current().kind != TokenKind::BlockEnd) {
        if (!statement.assignments.empty()) expectOperator(",");
        const Expression* target = parseOneTarget(false);
        expectOperator("=");
        statement.assignments.emplace_back(target, parseExpression());
    }
    expectBlockEnd();
    statement.body = parseBodyTo("endwith", "with", line);
    return &statement;
}

std::vector<Parameter> Parser::parseParameters() {
    std::vector<Parameter> parameters;
    expectOperator("(");
    while (!current().isOperator(")")) {
        if (!parameters.empty()) expectOperator(",");
        Parameter parameter{expectName(), nullptr};
        if (skipOperator("=")) {
            parameter.fallback = parseExpression();
        } else if (!parameters.empty() && parameters.back().fallback != nullptr) {
            fail("the parameter '" + parameter.name + "' has no default but follows one that has");
        }
        parameters.push_back(std::move(parameter));
    }
    expectOperator(")");
    return parameters;
}

void Parser::parseMacroBody(Statement& statement, std::string_view end, std::string_view opener) {
    const int loops = std::exchange(m_loops, 0);
    Statement* const outer = std::exchange(m_macro, &statement);
    statement.body = parseBodyTo(end, opener, statement.line);
    m_macro = outer;
    m_loops = loops;
}

const Statement* Parser::parseMacro(int line) {
    Statement& statement = makeStatement(StatementKind::Macro, line);
    statement.name = expectName();
    statement.parameters = parseParameters();
    expectBlockEnd();
    parseMacroBody(statement, "endmacro", "macro");
    return &statement;
}

const Statement* Parser::parseCallBlock(int line) {
    Statement& statement = makeStatement(StatementKind::CallBlock, line);
    if (current().isOperator("(")) statement.parameters = parseParameters();
    statement.expression = parseExpression();
    if (statement.expression->kind != ExpressionKind::Call) fail("{% call %} needs a call");
    expectBlockEnd();
    parseMacroBody(statement, "endcall", "call");
    return &statement;
}

const Statement* Parser::parseFilterBlock(int line) {
    Statement& statement = makeStatement(StatementKind::Filter, line);
    // The first filter's name stands without a bar.
    statement.expression = parseFilters(parseFilter(nullptr));
    expectBlockEnd();
    statement.body = parseBodyTo("endfilter", "filter", line);
    return &statement;
}

const Statement* Parser::parseLoopControl(const std::string& name, int line) {
    if (m_loops == 0) throw TemplateError("'" + name + "' outside of a loop", line);
    expectBlockEnd();
    return &makeStatement(name == "break" ? StatementKind::Break : StatementKind::Continue, line);
}

}  // namespace firsttoken::engine::jinja
