#include "engine/core/kv_sizing.h"

#include <algorithm>
#include <limits>
#include <string>

namespace firsttoken::engine {

namespace {

/// Blocks that one sequence at full context may hold in the group.
std::uint64_t blocksOfOne(const KvSizingInput& input, const LayerGroup& group) {
    std::uint64_t tokens = input.contextTokens;
    if (group.window != 0) tokens = std::min(tokens, 2 * std::uint64_t{group.window} + input.chunkTokens);
    return (tokens + input.blockTokens - 1) / input.blockTokens + (group.window != 0 ? 1 : 0);
}

}  // namespace

Result<std::vector<std::uint32_t>> sizeKvPools(const KvSizingInput& input) {
    double wanted = 0;
    std::uint64_t least = 0;
    for (std::size_t g = 0; g < input.groups.size(); ++g) {
        wanted += static_cast<double>(blocksOfOne(input, input.groups[g]) * input.sequences) *
                  static_cast<double>(input.blockBytes[g]);
        least += input.blockBytes[g];
    }
    if (input.budgetBytes < least) {
        return Error{ErrorCode::DoesNotFit, "the KV cache has room for " + std::to_string(input.budgetBytes) +
                                                " bytes; one block of " + std::to_string(input.blockTokens) +
                                                " tokens takes " + std::to_string(least)};
    }
    const double possible = static_cast<double>(input.budgetBytes) / wanted;
    const double share = input.fillBudget ? possible : std::min(1.0, possible);
    std::vector<std::uint32_t> blocks;
    for (const LayerGroup& group : input.groups) {
        const double all = static_cast<double>(blocksOfOne(input, group) * input.sequences);
        const double most = std::numeric_limits<std::int32_t>::max();
        blocks.push_back(static_cast<std::uint32_t>(std::clamp(all * share, 1.0, most)));
    }
    return blocks;
}

std::uint64_t kvPoolBytes(const KvSizingInput& input, const std::vector<std::uint32_t>& blocks) {
    std::uint64_t bytes = 0;
    for (std::size_t g = 0; g < blocks.size(); ++g) bytes += blocks[g] * input.blockBytes[g];
    return bytes;
}

}  // namespace firsttoken::engine
