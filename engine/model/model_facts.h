#pragma once

#include "engine/model/gguf_file.h"
#include "engine/model/plan.h"
#include "engine/model_info.h"

namespace firsttoken::engine {

/// What the metadata alone says. Keys that are missing or impossible leave their field at 0 or empty.
ModelInfo describeFile(const GgufFile& file);
/// Adds what only the plan knows.
void describePlan(const Plan& plan, ModelInfo& info);

}  // namespace firsttoken::engine
