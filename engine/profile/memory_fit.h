#pragma once

#include <cstdint>
#include <vector>

/// Whether a model, its working memory and KV for its sequences fit into memory. Pure functions: any thread.
namespace firsttoken::engine {

struct KvGroupNeed {
    std::uint64_t bytesPerToken = 0;  ///< of all layers of the group, K and V
    /// Most tokens that one sequence keeps: 0 = the whole context; a windowed group keeps its window and one chunk.
    std::int64_t keptTokens = 0;
};

struct MemoryNeed {
    std::uint64_t weightBytes = 0;
    std::uint64_t workBytes = 0;
    std::vector<KvGroupNeed> groups;  ///< empty: no KV is kept
    std::int64_t contextTokens = 0;   ///< of one sequence
    std::int64_t blockTokens = 16;
    std::int64_t sequences = 1;  ///< that should hold a full context at once
};

/// Sums that would overflow stay at the largest number.
struct MemoryFit {
    bool fits = false;  ///< weights, work and at least one full sequence
    std::uint64_t availableBytes = 0;
    std::uint64_t fixedBytes = 0;             ///< weights and work
    std::uint64_t bytesPerSequence = 0;       ///< KV of one full context, whole blocks
    std::uint64_t neededBytes = 0;            ///< fixed and all sequences asked for
    std::uint64_t kvBudgetBytes = 0;          ///< what is left for KV
    std::int64_t sequencesAtFullContext = 0;  ///< of those asked for, how many fit
    std::int64_t longestContextTokens = 0;    ///< of one sequence alone, at most contextTokens
    bool operator==(const MemoryFit&) const = default;
};

MemoryFit fits(const MemoryNeed& need, std::uint64_t availableBytes);

}  // namespace firsttoken::engine
