#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/compute/backend.h"
#include "engine/compute/cpu/kernels.h"
#include "engine/result.h"

namespace firsttoken::engine {

struct UnmapPages {
    std::size_t bytes = 0;
    void operator()(std::byte* data) const;
};

/// Memory straight from the system: zero, page-aligned, and resident only where it was touched.
class PageMemory {
public:
    PageMemory() = default;
    static Result<PageMemory> allocate(std::size_t bytes);
    std::byte* data() const { return m_data.get(); }
    std::size_t bytes() const { return m_data.get_deleter().bytes; }

private:
    std::unique_ptr<std::byte, UnmapPages> m_data;
};

/// K and V of every layer, in blocks: [block][kv head][token in block][head dim], K and V apart.
/// Written and read by the workers of one executor; rows of a step never write the same place.
class KvStore {
public:
    static Result<KvStore> create(const Plan& plan, const BackendOptions& options, const Kernels& kernels);

    /// Stores one token's k and v (kvHeads * headDim f32 values each), after RoPE.
    void write(std::uint32_t layer, BlockId block, std::uint32_t tokenInBlock, const float* k, const float* v) const;
    /// Keys (or values) of one head at positions [first, last) as f32 rows of `stride` values, zero-padded.
    void readKeys(std::uint32_t layer, std::uint32_t head, std::span<const BlockId> table, std::uint32_t first,
                  std::uint32_t last, float* rows, std::size_t stride) const;
    void readValues(std::uint32_t layer, std::uint32_t head, std::span<const BlockId> table, std::uint32_t first,
                    std::uint32_t last, float* rows, std::size_t stride) const;

    std::uint64_t bytes() const;
    std::size_t valueBytes() const { return m_precision == KvPrecision::F32 ? 4 : 2; }

private:
    struct Layer {
        PageMemory keys, values;
        std::uint32_t heads, dim;
    };
    void store(const Layer& layer, const PageMemory& to, BlockId block, std::uint32_t token, const float* row) const;
    void read(const Layer& layer, const PageMemory& from, std::uint32_t head, std::span<const BlockId> table,
              std::uint32_t first, std::uint32_t last, float* rows, std::size_t stride) const;
    /// Offset in values of (block, head, token).
    std::size_t offset(const Layer& layer, BlockId block, std::uint32_t head, std::uint32_t token) const;

    std::vector<Layer> m_layers;
    std::uint32_t m_blockTokens = 16;
    KvPrecision m_precision = KvPrecision::F16;
    const Kernels* m_kernels = nullptr;
};

}  // namespace firsttoken::engine
