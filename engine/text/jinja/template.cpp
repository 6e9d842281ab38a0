#include "engine/text/jinja/template.h"

#include <new>
#include <string>

#include "engine/text/jinja/parser.h"
#include "engine/text/jinja/template_error.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine::jinja {

namespace {

constexpr std::size_t maxSourceBytes = std::size_t{4} << 20U;

Error faultOf(const TemplateError& error, int fallbackLine) {
    const int line = error.line() > 0 ? error.line() : fallbackLine;
    const std::string place = line > 0 ? "chat template, line " + std::to_string(line) + ": " : "chat template: ";
    return {ErrorCode::BadInput, place + error.message(), line, 0};
}

}  // namespace

Result<Template> Template::parse(std::string_view source) {
    if (source.size() > maxSourceBytes) return Error{ErrorCode::BadInput, "the chat template is longer than 4 MiB"};
    if (!isValidUtf8(source)) return Error{ErrorCode::BadInput, "the chat template is no valid UTF-8"};
    try {
        return Template(Parser(source).run());
    } catch (const TemplateError& error) {
        return faultOf(error, 0);
    } catch (const std::exception& error) {
        return Error{ErrorCode::Internal, std::string("the chat template cannot be parsed: ") + error.what()};
    }
}

Result<MarkedString> Template::render(const Dict& given, Date now) const {
    Interpreter interpreter(*m_ast, given, now);
    try {
        return interpreter.run();
    } catch (const TemplateError& error) {
        return faultOf(error, interpreter.line());
    } catch (const std::exception& error) {
        return Error{ErrorCode::Internal, std::string("the chat template cannot be rendered: ") + error.what()};
    }
}

}  // namespace firsttoken::engine::jinja
