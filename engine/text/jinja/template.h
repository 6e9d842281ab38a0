#pragma once

#include <memory>
#include <string_view>

#include "engine/result.h"
#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/interpreter.h"

namespace firsttoken::engine::jinja {

/// A parsed chat template. Immutable: any thread.
class Template {
public:
    /// Errors: BadInput with the template's line.
    static Result<Template> parse(std::string_view source);
    /// Errors: BadInput with the template's line: what it refused, or a bound that it broke.
    Result<MarkedString> render(const Dict& given, Date now) const;

private:
    explicit Template(std::shared_ptr<const Ast> ast) : m_ast(std::move(ast)) {}
    std::shared_ptr<const Ast> m_ast;
};

}  // namespace firsttoken::engine::jinja
