#include "engine/text/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/text/jinja/string_literal.h"
#include "engine/text/jinja/template_error.h"
#include "engine/text/jinja/text_tools.h"

namespace firsttoken::engine::jinja {

namespace {

constexpr std::array<std::string_view, 27> operators = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                        "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                        ">",  "<",  "=",  ".",  ":",  "|",  ",", ";", "!"};

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNamePart(char c) {
    const bool ascii = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) || c == '_';
    return ascii || static_cast<unsigned char>(c) >= 0x80;
}

/// Line ends to \n; a newline at the very end is not part of the template.
std::string normalized(std::string_view source) {
    std::string out;
    out.reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
        if (source[i] != '\r') {
            out.push_back(source[i]);
            continue;
        }
        out.push_back('\n');
        if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    }
    if (out.ends_with('\n')) out.pop_back();
    return out;
}

class Lexer {
public:
    explicit Lexer(std::string_view source) : m_source(normalized(source)) {}

    std::vector<Token> run() {
        while (m_at < m_source.size()) {
            const std::size_t tag = findTag();
            if (tag == std::string::npos) {
                pushData(std::string_view(m_source).substr(m_at));
                m_at = m_source.size();
                break;
            }
            if (const auto raw = matchRaw(tag, "raw", false)) {
                leaveText(tag, raw->sign, true);
                m_at = raw->end;
                rawText(tag);
            } else if (m_source[tag + 1] == '#') {
                comment(tag);
            } else {
                expressionTag(tag);
            }
        }
        push(TokenKind::End, {}, m_at);
        return std::move(m_tokens);
    }

private:
    /// {% raw %} or {% endraw %} at a place.
    struct RawTag {
        char sign = 0;
        std::size_t end = 0;
    };

    std::string_view rest(std::size_t at) const { return std::string_view(m_source).substr(at); }

    /// Lines are counted forward only, in one pass.
    int lineAt(std::size_t at) {
        for (; m_lineAt < at; ++m_lineAt) m_line += m_source[m_lineAt] == '\n' ? 1 : 0;
        return m_line;
    }
    void push(TokenKind kind, std::string text, std::size_t at) {
        m_tokens.push_back({kind, std::move(text), lineAt(at)});
    }
    void pushData(std::string_view text) {
        if (!text.empty()) push(TokenKind::Data, std::string(text), m_at);
    }
    [[noreturn]] void fail(const std::string& message, std::size_t at) { throw TemplateError(message, lineOf(at)); }

    std::size_t findTag() const {
        for (std::size_t at = m_source.find('{', m_at); at != std::string::npos; at = m_source.find('{', at + 1)) {
            const char next = at + 1 < m_source.size() ? m_source[at + 1] : '\0';
            if (next == '{' || next == '%' || next == '#') return at;
        }
        return std::string::npos;
    }

    std::size_t skipSpace(std::size_t at) const { return at + leadingSpace(rest(at)); }

    char signAt(std::size_t at) const {
        return at < m_source.size() && (m_source[at] == '-' || m_source[at] == '+') ? m_source[at] : '\0';
    }

    /// Pushes the text before a tag, as the tag's sign and lstrip_blocks say.
    void leaveText(std::size_t tag, char sign, bool isBlock) {
        std::string_view text = rest(m_at).substr(0, tag - m_at);
        if (sign == '-') {
            text = text.substr(0, text.size() - trailingSpace(text));
        } else if (sign != '+' && isBlock) {
            const std::size_t newline = text.rfind('\n');
            const std::size_t lineStart = newline == std::string_view::npos ? 0 : newline + 1;
            const std::string_view indent = text.substr(lineStart);
            if ((lineStart > 0 || m_atLineStart) && leadingSpace(indent) == indent.size())
                text = text.substr(0, lineStart);
        }
        pushData(text);
    }

    /// Behind a tag that ends at `at`: takes white space as its sign and trim_blocks say.
    void afterTag(std::size_t at, char sign, bool trims) {
        std::size_t end = at;
        if (sign == '-') {
            end = skipSpace(at);
        } else if (sign != '+' && trims && at < m_source.size() && m_source[at] == '\n') {
            ++end;
        }
        m_at = end;
        m_atLineStart = m_source[end - 1] == '\n';
    }

    std::optional<RawTag> matchRaw(std::size_t tag, std::string_view name, bool ending) const {
        if (!rest(tag).starts_with("{%")) return std::nullopt;
        RawTag raw;
        std::size_t at = tag + 2;
        raw.sign = signAt(at);
        if (raw.sign != '\0') ++at;
        at = skipSpace(at);
        if (!rest(at).starts_with(name)) return std::nullopt;
        at = skipSpace(at + name.size());
        if (rest(at).starts_with("-%}")) {
            raw.end = skipSpace(at + 3);
        } else if (rest(at).starts_with("%}")) {
            raw.end = at + 2;
            if (ending && raw.end < m_source.size() && m_source[raw.end] == '\n') ++raw.end;
        } else if (ending && rest(at).starts_with("+%}")) {
            raw.end = at + 3;
        } else {
            return std::nullopt;
        }
        return raw;
    }

    void rawText(std::size_t start) {
        m_atLineStart = m_source[m_at - 1] == '\n';
        for (std::size_t tag = m_source.find("{%", m_at); tag != std::string::npos;
             tag = m_source.find("{%", tag + 2)) {
            const auto raw = matchRaw(tag, "endraw", true);
            if (!raw) continue;
            leaveText(tag, raw->sign, true);
            m_at = raw->end;
            m_atLineStart = m_source[m_at - 1] == '\n';
            return;
        }
        fail("the {% raw %} block is not closed by {% endraw %}", start);
    }

    void comment(std::size_t tag) {
        const char sign = signAt(tag + 2);
        leaveText(tag, sign, true);
        const std::size_t body = tag + 2 + (sign != '\0' ? 1 : 0);
        const std::size_t end = m_source.find("#}", body);
        if (end == std::string::npos) fail("a comment is not closed by #}", tag);
        const char endSign = end > body ? signAt(end - 1) : '\0';
        afterTag(end + 2, endSign, true);
    }

    void expressionTag(std::size_t tag) {
        const bool isBlock = m_source[tag + 1] == '%';
        const char sign = signAt(tag + 2);
        leaveText(tag, sign, isBlock);
        push(isBlock ? TokenKind::BlockBegin : TokenKind::VariableBegin, {}, tag);
        m_at = tag + 2 + (sign != '\0' ? 1 : 0);
        const std::string_view close = isBlock ? "%}" : "}}";
        m_brackets.clear();
        while (true) {
            m_at = skipSpace(m_at);
            if (m_at >= m_source.size()) {
                fail(std::string("the template ends within a tag that begins in line ") + std::to_string(lineOf(tag)) +
                         "; " + std::string(close) + " is missing",
                     m_at);
            }
            if (m_brackets.empty() && closeTag(isBlock, close)) return;
            expressionToken();
        }
    }

    int lineOf(std::size_t at) const {
        return 1 +
               static_cast<int>(std::count(m_source.begin(), m_source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    }

    bool closeTag(bool isBlock, std::string_view close) {
        const char sign = signAt(m_at);
        const bool plain = rest(m_at).starts_with(close);
        const bool withSign = (sign == '-' || (sign == '+' && isBlock)) && rest(m_at + 1).starts_with(close);
        if (!plain && !withSign) return false;
        push(isBlock ? TokenKind::BlockEnd : TokenKind::VariableEnd, {}, m_at);
        afterTag(m_at + close.size() + (plain ? 0 : 1), plain ? '\0' : sign, isBlock);
        return true;
    }

    void expressionToken() {
        const char c = m_source[m_at];
        if (isDigit(c)) return number();
        if (isNamePart(c)) {
            std::size_t end = m_at;
            while (end < m_source.size() && isNamePart(m_source[end])) ++end;
            take(TokenKind::Name, end);
        } else if (c == '\'' || c == '"') {
            stringLiteral();
        } else {
            operatorToken();
        }
    }

    void take(TokenKind kind, std::size_t end) {
        push(kind, m_source.substr(m_at, end - m_at), m_at);
        m_at = end;
    }

    void stringLiteral() {
        const char quote = m_source[m_at];
        std::size_t end = m_at + 1;
        while (end < m_source.size() && m_source[end] != quote) end += m_source[end] == '\\' ? 2 : 1;
        if (end >= m_source.size()) fail("a string is not closed", m_at);
        std::string text;
        const std::string problem = resolveEscapes(rest(m_at + 1).substr(0, end - m_at - 1), text);
        if (!problem.empty()) fail(problem, m_at);
        push(TokenKind::String, std::move(text), m_at);
        m_at = end + 1;
    }

    /// Digits with single underscores between them; the end.
    template <class Accept>
    std::size_t digits(std::size_t at, Accept accept) const {
        while (at < m_source.size()) {
            const bool underscore = m_source[at] == '_' && at + 1 < m_source.size() && accept(m_source[at + 1]);
            if (!accept(m_source[at]) && !underscore) break;
            ++at;
        }
        return at;
    }

    void number() {
        const auto hexDigit = [](char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
        const char base = m_at + 1 < m_source.size() ? static_cast<char>(m_source[m_at + 1] | 0x20) : '\0';
        if (m_source[m_at] == '0' && (base == 'x' || base == 'o' || base == 'b')) {
            const std::size_t end = digits(m_at + 2, hexDigit);
            if (end > m_at + 2) return takeNumber(TokenKind::Integer, end);
        }
        std::size_t end = digits(m_at, isDigit);
        TokenKind kind = TokenKind::Integer;
        if (end + 1 < m_source.size() && m_source[end] == '.' && isDigit(m_source[end + 1])) {
            kind = TokenKind::Float;
            end = digits(end + 1, isDigit);
        }
        if (end < m_source.size() && (m_source[end] | 0x20) == 'e') {
            const std::size_t exponent = end + 1 + (signAt(end + 1) != '\0' ? 1 : 0);
            if (exponent < m_source.size() && isDigit(m_source[exponent])) {
                kind = TokenKind::Float;
                end = digits(exponent, isDigit);
            }
        }
        takeNumber(kind, end);
    }

    void takeNumber(TokenKind kind, std::size_t end) {
        take(kind, end);
        std::string& text = m_tokens.back().text;
        text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
    }

    void operatorToken() {
        const auto found = std::find_if(operators.begin(), operators.end(),
                                        [&](std::string_view symbol) { return rest(m_at).starts_with(symbol); });
        if (found == operators.end() || *found == "!") {
            fail("unexpected character '" + m_source.substr(m_at, 1) + "'", m_at);
        }
        balance((*found)[0]);
        take(TokenKind::Operator, m_at + found->size());
    }

    void balance(char symbol) {
        const auto closing = [](char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; };
        if (symbol == '(' || symbol == '[' || symbol == '{') {
            m_brackets.push_back(symbol);
        } else if (symbol == ')' || symbol == ']' || symbol == '}') {
            if (m_brackets.empty()) fail(std::string("unexpected '") + symbol + "'", m_at);
            const char expected = closing(m_brackets.back());
            if (symbol != expected) {
                fail(std::string("unexpected '") + symbol + "', expected '" + expected + "'", m_at);
            }
            m_brackets.pop_back();
        }
    }

    std::string m_source;
    std::vector<Token> m_tokens;
    std::vector<char> m_brackets;
    std::size_t m_at = 0;
    std::size_t m_lineAt = 0;
    int m_line = 1;
    bool m_atLineStart = true;
};

}  // namespace

std::vector<Token> tokenizeTemplate(std::string_view source) { return Lexer(source).run(); }

std::string describe(const Token& token) {
    switch (token.kind) {
        case TokenKind::Data:
            return "template text";
        case TokenKind::VariableBegin:
            return "'{{'";
        case TokenKind::VariableEnd:
            return "end of print statement";
        case TokenKind::BlockBegin:
            return "'{%'";
        case TokenKind::BlockEnd:
            return "end of statement block";
        case TokenKind::String:
            return "a string";
        case TokenKind::End:
            return "end of template";
        default:
            return "'" + token.text + "'";
    }
}

}  // namespace firsttoken::engine::jinja
