#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/text/jinja/value.h"

namespace firsttoken::engine::jinja {

/// Reads JSON from outside: every string in it is untrusted, but for bos_token and its like at the top, and for
/// messages[].role where it is a plain word. Throws TemplateError for anything that is no JSON, or nested too deep.
Value readJson(std::string_view json);
/// A role from outside is part of the template's scaffolding if it is nothing but letters and underscores.
bool isPlainRole(std::string_view role);

struct JsonStyle {
    bool ensureAscii = false;
    std::optional<std::string> indent;  ///< one level of it; none: all on one line
    std::optional<std::string> itemSeparator;
    std::optional<std::string> keySeparator;
    bool sortKeys = false;
};
/// Python's json.dumps(). Throws TemplateError for what has no JSON.
MarkedString writeJson(const Value& value, const JsonStyle& style = {});

}  // namespace firsttoken::engine::jinja
