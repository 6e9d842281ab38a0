#pragma once

#include <span>
#include <vector>

#include "engine/compute/backend.h"
#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/kv_store.h"
#include "engine/compute/cpu/worker_pool.h"
#include "engine/model/plan.h"

namespace firsttoken::engine {

/// Attention over paged KV. Keys are read in chunks at absolute multiples of kChunkTokens and merged in order, so a
/// row's result depends on its query, its position and the stored KV alone. Holds scratch for each worker.
class Attention {
public:
    static constexpr std::uint32_t kChunkTokens = 256;
    /// Query rows of one sequence that share the reading of a chunk.
    static constexpr std::size_t kTileRows = 16;

    Attention(const Kernels& kernels, const KvStore& kv, WorkerPool& workers)
        : m_kernels(kernels), m_kv(kv), m_workers(workers) {}

    void reserve(std::size_t headDim, std::size_t queryHeadsPerKvHead);

    /// q, k, v, out: first value of row 0's part of the buffers, and their strides.
    struct Rows {
        const float *q, *k, *v;
        float* out;
        std::size_t qStride, kStride, vStride, outStride;
    };
    /// Stores k and v of all rows, then attends. `group`: the layer's group, `window` its window (0: none).
    void run(const AttentionOp& op, std::uint32_t group, std::uint32_t window, std::uint32_t blockTokens,
             std::span<const StepRow> rows, const StepBatch& batch, const Rows& data);
    std::uint64_t workBytes() const;

private:
    struct Scratch {
        std::vector<float> keys, values, scores, chunkOut;
        std::vector<SoftmaxState> states;
    };
    struct Tile {
        std::size_t first, count;  ///< rows
    };
    struct Context {
        const AttentionOp& op;
        std::uint32_t group, window;
        std::span<const StepRow> rows;
        const StepBatch& batch;
        const Rows& data;
    };
    void attend(const Context& context, const Tile& tile, std::uint32_t kvHead, Scratch& scratch) const;
    void chunk(const Context& context, const Tile& tile, std::uint32_t kvHead, std::uint32_t start,
               Scratch& scratch) const;

    const Kernels& m_kernels;
    const KvStore& m_kv;
    WorkerPool& m_workers;
    std::vector<Scratch> m_scratch;
    std::vector<Tile> m_tiles;
};

}  // namespace firsttoken::engine
