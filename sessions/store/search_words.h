#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace firsttoken::sessions {

/// The words of what a person typed, each as an FTS5 expression that is safe whatever it holds: a quoted phrase whose
/// last word may go on ("lat" finds "latency"). Signs alone are left out. At most 16 words.
std::vector<std::string> searchWords(std::string_view typed);

}  // namespace firsttoken::sessions
