#pragma once

#include <memory>
#include <string_view>

#include "engine/compute/backend.h"

namespace firsttoken::engine {

/// The CPU backend. `forcedIsa`: "plain" or "avx2", empty for the strongest that the machine runs.
/// Errors: BadInput for an instruction set that is unknown or not available.
Result<std::unique_ptr<Backend>> makeCpuBackend(std::string_view forcedIsa = {});

}  // namespace firsttoken::engine
