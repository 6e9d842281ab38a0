#pragma once

#include <string>

#include "engine/model/plan.h"

namespace firsttoken::tests {

/// What every plan must keep to, so that a backend can trust it. Empty if it does, else what is wrong.
std::string planFault(const engine::Plan& plan);

}  // namespace firsttoken::tests
