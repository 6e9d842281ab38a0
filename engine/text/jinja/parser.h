#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/lexer.h"

namespace firsttoken::engine::jinja {

/// Parses a template; recursion is bounded. Throws TemplateError with the line.
class Parser {
public:
    explicit Parser(std::string_view source);
    std::unique_ptr<Ast> run();

private:
    static constexpr int maxNesting = 150;
    static constexpr int maxExpressionDepth = 400;

    /// Counts levels of nesting while it lives.
    class Nesting {
    public:
        explicit Nesting(Parser& parser);
        ~Nesting() { --m_parser.m_nesting; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;

    private:
        Parser& m_parser;
    };

    // Tokens (parser.cpp).
    const Token& current() const { return m_tokens[m_at]; }
    const Token& ahead(std::size_t count) const;
    Token next();
    bool skipOperator(std::string_view symbol);
    bool skipName(std::string_view name);
    void expectOperator(std::string_view symbol);
    std::string expectName();
    void expectBlockEnd();
    [[noreturn]] void fail(const std::string& message) const;
    [[noreturn]] void failUnexpected() const;

    // Statements (parser_statements.cpp).
    struct Ended {
        Body body;
        std::string by;  ///< the tag's name that ended it; the parser stands behind that name
    };
    Ended parseBody(std::initializer_list<std::string_view> ends, std::string_view opener, int openerLine);
    Body parseBodyTo(std::string_view end, std::string_view opener, int openerLine);
    const Statement* parseStatement();
    const Statement* parseIf(int line);
    const Statement* parseFor(int line);
    const Statement* parseSet(int line);
    const Statement* parseWith(int line);
    const Statement* parseMacro(int line);
    const Statement* parseCallBlock(int line);
    const Statement* parseFilterBlock(int line);
    const Statement* parseLoopControl(const std::string& name, int line);
    std::vector<Parameter> parseParameters();
    /// The body of a macro or call block, to its end.
    void parseMacroBody(Statement& statement, std::string_view end, std::string_view opener);
    Statement& makeStatement(StatementKind kind, int line);

    // Expressions (parser_expressions.cpp).
    const Expression* parseExpression(bool conditional = true);
    const Expression* parseConditional();
    const Expression* parseOr();
    const Expression* parseAnd();
    const Expression* parseNot();
    const Expression* parseCompare();
    const Expression* parseSum();
    const Expression* parseConcatenation();
    const Expression* parseProduct();
    const Expression* parsePower();
    const Expression* parseUnary(bool withFilters = true);

    // Literals, names and targets (parser_primary.cpp).
    const Expression* parsePrimary();
    const Expression* parseTuple(bool conditional, bool emptyAllowed);
    const Expression* parseTarget(bool withAttribute);
    const Expression* parseOneTarget(bool withAttribute);
    const Expression* parseList();
    const Expression* parseDict();

    // What follows them: attributes, calls, filters, tests (parser_postfix.cpp).
    const Expression* parsePostfix(const Expression* base);
    const Expression* parseFilters(const Expression* base);
    const Expression* parseFilter(const Expression* base);
    const Expression* parseTest(const Expression* base);
    const Expression* parseSubscript(const Expression* base);
    const Expression* parseCall(const Expression* base);
    CallArguments parseCallArguments();
    std::string parseDottedName();
    bool atTupleEnd() const;

    Expression& makeExpression(ExpressionKind kind, int line);
    /// Fills in the depth; throws over the limit.
    const Expression* finish(Expression& expression) const;
    const Expression* binary(Arithmetic how, int line, const Expression* left, const Expression* right);
    const Expression* number(const Token& token);

    std::vector<Token> m_tokens;
    std::size_t m_at = 0;
    int m_nesting = 0;
    int m_loops = 0;               ///< loops around the statement being parsed, within this macro
    Statement* m_macro = nullptr;  ///< the innermost one being parsed
    std::unique_ptr<Ast> m_ast;
};

}  // namespace firsttoken::engine::jinja
