#pragma once

#include "sessions/compare/comparison.h"
#include "sessions/report/markup.h"

namespace firsttoken::sessions {

/// The verdict, what differed and what moved. `armA`, `armB`: how the arms are called ("A, C").
void writeComparison(Markup& html, const Comparison& comparison, std::string_view armA, std::string_view armB);

}  // namespace firsttoken::sessions
