#pragma once

#include <span>

#include "engine/model/hyperparameters.h"
#include "engine/model/plan.h"

/// All kinds of RoPE as one inverse frequency a pair (facts: architectures, section 2).
namespace firsttoken::engine {

/// base^(-2i/R) / factors[i], scaled as the parameters say: linear (divided by the factor) or YaRN (a ramp from
/// untouched to divided). `factors`: R/2 values, or empty.
RopeTable ropeTable(const RopeParameters& rope, RopePairing pairing, std::span<const float> factors = {});

}  // namespace firsttoken::engine
