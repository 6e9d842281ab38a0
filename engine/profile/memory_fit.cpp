#include "engine/profile/memory_fit.h"

#include <algorithm>

namespace firsttoken::engine {

namespace {

std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

std::uint64_t times(std::uint64_t a, std::uint64_t b) { return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

std::uint64_t sequenceBytes(const MemoryNeed& need, std::int64_t contextTokens) {
    const auto block = static_cast<std::uint64_t>(std::max<std::int64_t>(1, need.blockTokens));
    std::uint64_t bytes = 0;
    for (const KvGroupNeed& group : need.groups) {
        const std::int64_t kept = group.keptTokens > 0 ? std::min(group.keptTokens, contextTokens) : contextTokens;
        const auto tokens = static_cast<std::uint64_t>(std::max<std::int64_t>(0, kept));
        // A window rarely starts at a block's first token: one block more, but never more than the context has.
        const std::uint64_t context = static_cast<std::uint64_t>(std::max<std::int64_t>(0, contextTokens));
        const std::uint64_t most = context / block + (context % block == 0 ? 0 : 1);
        const std::uint64_t whole = tokens / block + (tokens % block == 0 ? 0 : 1);
        const std::uint64_t blocks = std::min(most, whole + (kept < contextTokens ? 1 : 0));
        bytes = plus(bytes, times(times(blocks, block), group.bytesPerToken));
    }
    return bytes;
}

std::int64_t longestContext(const MemoryNeed& need, std::uint64_t budget) {
    std::int64_t low = 0;
    std::int64_t high = std::max<std::int64_t>(0, need.contextTokens);
    while (low < high) {
        const std::int64_t middle = high - (high - low) / 2;
        if (sequenceBytes(need, middle) <= budget) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

}  // namespace

MemoryFit fits(const MemoryNeed& need, std::uint64_t availableBytes) {
    MemoryFit fit;
    fit.availableBytes = availableBytes;
    fit.fixedBytes = plus(need.weightBytes, need.workBytes);
    fit.bytesPerSequence = sequenceBytes(need, need.contextTokens);
    const auto asked = static_cast<std::uint64_t>(std::max<std::int64_t>(0, need.sequences));
    fit.neededBytes = plus(fit.fixedBytes, times(fit.bytesPerSequence, asked));
    if (fit.fixedBytes > availableBytes) return fit;
    fit.kvBudgetBytes = availableBytes - fit.fixedBytes;
    const std::uint64_t holds =
        fit.bytesPerSequence == 0 ? asked : std::min(asked, fit.kvBudgetBytes / fit.bytesPerSequence);
    fit.sequencesAtFullContext = static_cast<std::int64_t>(holds);
    fit.longestContextTokens = longestContext(need, fit.kvBudgetBytes);
    fit.fits = fit.bytesPerSequence <= fit.kvBudgetBytes;
    return fit;
}

}  // namespace firsttoken::engine
