#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

namespace firsttoken::engine {

/// Instruction sets that kernels exist for, weakest first.
enum class Isa { Plain, Avx2 };

std::string_view toString(Isa isa);
/// Those that this build has and this machine runs; Plain is always first.
std::vector<Isa> availableIsas();
/// `forced` empty: the strongest available. Errors: BadInput for an unknown name or one this machine lacks.
Result<Isa> chooseIsa(std::string_view forced);

}  // namespace firsttoken::engine
