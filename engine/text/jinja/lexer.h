#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace firsttoken::engine::jinja {

enum class TokenKind : std::uint8_t {
    Data,           ///< text between tags, white space control applied
    VariableBegin,  ///< {{
    VariableEnd,
    BlockBegin,  ///< {%
    BlockEnd,
    Name,
    String,   ///< escapes resolved
    Integer,  ///< text: digits in base 10, or with 0x, 0o, 0b; no underscores
    Float,
    Operator,
    End,
};

struct Token {
    TokenKind kind = TokenKind::End;
    std::string text;
    int line = 1;

    bool isName(std::string_view name) const { return kind == TokenKind::Name && text == name; }
    bool isOperator(std::string_view symbol) const { return kind == TokenKind::Operator && text == symbol; }
};

/// Cuts a template into tokens with trim_blocks and lstrip_blocks on, as chat templates expect. The last token is
/// End. Throws TemplateError with the line.
std::vector<Token> tokenizeTemplate(std::string_view source);

/// How a token reads in a message: "end of statement block", "name 'x'" …
std::string describe(const Token& token);

}  // namespace firsttoken::engine::jinja
