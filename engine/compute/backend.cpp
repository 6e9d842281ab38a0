#include "engine/compute/backend.h"

namespace firsttoken::engine {

std::vector<std::uint64_t> kvBlockBytes(const Plan& plan, std::uint32_t blockTokens, KvPrecision precision) {
    const std::uint64_t valueBytes = precision == KvPrecision::F32 ? 4 : 2;
    std::vector<std::uint64_t> bytes(plan.groups.size(), 0);
    for (const KvShape& layer : plan.layers) {
        bytes[layer.group] += 2 * valueBytes * layer.kvHeads * layer.headDim * blockTokens;
    }
    return bytes;
}

}  // namespace firsttoken::engine
