#pragma once

#include <string>
#include <string_view>

#include "engine/model/gguf_file.h"
#include "engine/model/hyperparameters.h"
#include "engine/model/plan.h"
#include "engine/result.h"

/// The architecture families: each a function that writes a plan. A new one is a file here and a line in families.cpp.
namespace firsttoken::engine {

/// What a family writes its plan from.
struct FamilyInput {
    const GgufFile& file;
    const Hyperparameters& values;
    std::int64_t contextTokens = 0;  ///< room of a sequence, for families whose plan depends on it
};
using WritePlan = Result<Plan> (*)(const FamilyInput& input);

Result<Plan> writeLlamaPlan(const FamilyInput& input);
Result<Plan> writeQwen2Plan(const FamilyInput& input);
Result<Plan> writeGemma3Plan(const FamilyInput& input);

/// By general.architecture; nullptr if there is none.
WritePlan findFamily(std::string_view architecture);
/// "gemma3, llama, qwen2".
std::string supportedArchitectures();

/// Errors: BadInput and Unsupported, naming the key or tensor.
Result<Plan> writePlan(const GgufFile& file, std::int64_t contextTokens);

}  // namespace firsttoken::engine
