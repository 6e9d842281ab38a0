#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sessions/report/markup.h"
#include "sessions/report/session_view.h"

namespace firsttoken::sessions {

/// The leaves of a JSON object in its order, with dotted keys, as text. A text that is no JSON is one leaf with an
/// empty key; beyond a bound the leaves end with "…".
std::vector<std::pair<std::string, std::string>> flattened(std::string_view json);

/// All that is needed to run the session again, and to judge its figures: model, profile (requested, effective, why),
/// workload, seed, machine, build.
void writeRecipe(Markup& html, const SessionView& view);

}  // namespace firsttoken::sessions
