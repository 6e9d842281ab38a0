#pragma once

#include <string_view>

namespace firsttoken::sessions {

/// resources/models/catalogue.json as it was when this program was built.
std::string_view catalogueData();

}  // namespace firsttoken::sessions
