#pragma once

#include <cstdint>
#include <vector>

#include "engine/model/plan.h"
#include "engine/result.h"

namespace firsttoken::engine {

struct KvSizingInput {
    std::vector<std::uint64_t> blockBytes;  ///< by layer group
    std::vector<LayerGroup> groups;
    std::uint32_t blockTokens = 16;
    std::uint64_t contextTokens = 0;  ///< of one sequence
    std::uint64_t sequences = 1;      ///< that hold KV at once
    std::uint64_t chunkTokens = 512;  ///< rows of one sequence in a step, at most
    std::uint64_t budgetBytes = 0;
    bool fillBudget = false;                ///< take the whole budget, what is over holds more prefixes
};

/// Blocks of each group's pool: what all sequences at full context use, or as much of that as the budget holds, in
/// the same proportion. A windowed group needs its window and a step's rows a sequence, and gets one window more, so
/// that finished prompts stay reusable for a while.
/// Errors: DoesNotFit where the budget is less than one block a group.
Result<std::vector<std::uint32_t>> sizeKvPools(const KvSizingInput& input);

/// Bytes of these pools.
std::uint64_t kvPoolBytes(const KvSizingInput& input, const std::vector<std::uint32_t>& blocks);

}  // namespace firsttoken::engine
