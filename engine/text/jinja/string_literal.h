#pragma once

#include <string>
#include <string_view>

namespace firsttoken::engine::jinja {

/// Resolves Python's escapes of a string literal (without its quotes) into `out`. An escape that Python does not know
/// stays as it is. Returns what is wrong, or nothing.
std::string resolveEscapes(std::string_view literal, std::string& out);

}  // namespace firsttoken::engine::jinja
