#include "engine/compute/cpu/kv_store.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace firsttoken::engine {

void UnmapPages::operator()(std::byte* data) const { ::munmap(data, bytes); }

Result<PageMemory> PageMemory::allocate(std::size_t bytes) {
    PageMemory memory;
    const std::size_t length = std::max<std::size_t>(bytes, 1);
    void* data = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        return Error{ErrorCode::DoesNotFit, "no room in memory for " + std::to_string(bytes) + " bytes"};
    }
    memory.m_data = std::unique_ptr<std::byte, UnmapPages>(static_cast<std::byte*>(data), UnmapPages{length});
    return memory;
}

Result<KvStore> KvStore::create(const Plan& plan, const BackendOptions& options, const Kernels& kernels) {
    KvStore store;
    store.m_blockTokens = options.blockTokens;
    store.m_precision = options.kvPrecision;
    store.m_kernels = &kernels;
    for (const KvShape& shape : plan.layers) {
        const std::size_t values =
            std::size_t{options.groupBlocks[shape.group]} * options.blockTokens * shape.kvHeads * shape.headDim;
        auto keys = PageMemory::allocate(values * store.valueBytes());
        if (!keys) return keys.error();
        auto valuesMemory = PageMemory::allocate(values * store.valueBytes());
        if (!valuesMemory) return valuesMemory.error();
        store.m_layers.push_back(
            {std::move(keys).value(), std::move(valuesMemory).value(), shape.kvHeads, shape.headDim});
    }
    return store;
}

std::size_t KvStore::offset(const Layer& layer, BlockId block, std::uint32_t head, std::uint32_t token) const {
    return ((std::size_t{block} * layer.heads + head) * m_blockTokens + token) * layer.dim;
}

void KvStore::store(const Layer& layer, const PageMemory& to, BlockId block, std::uint32_t token,
                    const float* row) const {
    for (std::uint32_t head = 0; head < layer.heads; ++head) {
        const float* source = row + std::size_t{head} * layer.dim;
        std::byte* target = to.data() + offset(layer, block, head, token) * valueBytes();
        if (m_precision == KvPrecision::F32) {
            std::memcpy(target, source, layer.dim * sizeof(float));
        } else {
            m_kernels->floatsToHalves(source, reinterpret_cast<std::uint16_t*>(target), layer.dim);
        }
    }
}

void KvStore::write(std::uint32_t layer, BlockId block, std::uint32_t tokenInBlock, const float* k,
                    const float* v) const {
    store(m_layers[layer], m_layers[layer].keys, block, tokenInBlock, k);
    store(m_layers[layer], m_layers[layer].values, block, tokenInBlock, v);
}

void KvStore::read(const Layer& layer, const PageMemory& from, std::uint32_t head, std::span<const BlockId> table,
                   std::uint32_t first, std::uint32_t last, float* rows, std::size_t stride) const {
    const bool packed = stride == layer.dim;
    for (std::uint32_t position = first; position < last;) {
        const std::uint32_t inBlock = position % m_blockTokens;
        const std::uint32_t count = std::min(m_blockTokens - inBlock, last - position);
        const std::byte* source =
            from.data() + offset(layer, table[position / m_blockTokens], head, inBlock) * valueBytes();
        const std::size_t pieces = packed ? 1 : count;
        const std::size_t length = packed ? std::size_t{count} * layer.dim : layer.dim;
        for (std::size_t piece = 0; piece < pieces; ++piece, source += length * valueBytes()) {
            float* target = rows + (position - first + piece) * stride;
            if (m_precision == KvPrecision::F32) {
                std::memcpy(target, source, length * sizeof(float));
            } else {
                m_kernels->halvesToFloats(reinterpret_cast<const std::uint16_t*>(source), target, length);
            }
            if (!packed) std::fill(target + layer.dim, target + stride, 0.0F);
        }
        position += count;
    }
}

void KvStore::readKeys(std::uint32_t layer, std::uint32_t head, std::span<const BlockId> table, std::uint32_t first,
                       std::uint32_t last, float* rows, std::size_t stride) const {
    read(m_layers[layer], m_layers[layer].keys, head, table, first, last, rows, stride);
}

void KvStore::readValues(std::uint32_t layer, std::uint32_t head, std::span<const BlockId> table, std::uint32_t first,
                         std::uint32_t last, float* rows, std::size_t stride) const {
    read(m_layers[layer], m_layers[layer].values, head, table, first, last, rows, stride);
}

std::uint64_t KvStore::bytes() const {
    std::uint64_t sum = 0;
    for (const Layer& layer : m_layers) sum += layer.keys.bytes() + layer.values.bytes();
    return sum;
}

}  // namespace firsttoken::engine
