#pragma once

#include <cstdint>
#include <optional>

#include "engine/model_info.h"

namespace firsttoken::sessions {

/// Whether one sequence of the default context would fit in memory: weights, KV cache and work buffers.
struct MemoryFit {
    std::uint64_t weightBytes = 0;
    std::uint64_t kvBytes = 0;  ///< at f16, contextTokens long
    std::uint64_t workBytes = 0;
    std::int64_t contextTokens = 0;
    std::optional<std::uint64_t> availableBytes;  ///< none: the system does not say

    std::uint64_t needsBytes() const { return weightBytes + kvBytes + workBytes; }
    /// None where the available memory is unknown.
    std::optional<bool> fits() const;
    bool operator==(const MemoryFit&) const = default;
};

MemoryFit memoryFit(const engine::ModelInfo& model, std::optional<std::uint64_t> availableBytes);

}  // namespace firsttoken::sessions
