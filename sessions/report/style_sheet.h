#pragma once

#include <string_view>

namespace firsttoken::sessions {

/// The report's CSS: no character that HTML or XML would read as markup.
std::string_view reportStyle();

}  // namespace firsttoken::sessions
