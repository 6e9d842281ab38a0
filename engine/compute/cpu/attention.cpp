#include "engine/compute/cpu/attention.h"

#include <algorithm>
#include <limits>

namespace firsttoken::engine {

namespace {

std::size_t padded(std::size_t dim) { return (dim + kFloatPad - 1) / kFloatPad * kFloatPad; }

/// First position that the row may see.
std::uint32_t firstVisible(std::uint32_t position, std::uint32_t window) {
    return window == 0 || position < window ? 0 : position - window + 1;
}

}  // namespace

void Attention::reserve(std::size_t headDim, std::size_t queryHeadsPerKvHead) {
    m_scratch.resize(m_workers.threads());
    for (Scratch& scratch : m_scratch) {
        scratch.keys.resize(kChunkTokens * padded(headDim));
        scratch.values.resize(kChunkTokens * padded(headDim));
        scratch.scores.resize(kChunkTokens);
        scratch.chunkOut.resize(padded(headDim));
        scratch.states.resize(kTileRows * queryHeadsPerKvHead);
    }
}

std::uint64_t Attention::workBytes() const {
    std::uint64_t bytes = 0;
    for (const Scratch& scratch : m_scratch) bytes += 4 * (scratch.keys.size() + scratch.values.size());
    return bytes;
}

void Attention::run(const AttentionOp& op, std::uint32_t group, std::uint32_t window, std::uint32_t blockTokens,
                    std::span<const StepRow> rows, const StepBatch& batch, const Rows& data) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const StepRow& row = rows[r];
        const std::span<const BlockId> table = batch.sequences[row.sequence].tables[group];
        m_kv.write(op.layer, table[row.position / blockTokens], row.position % blockTokens, data.k + r * data.kStride,
                   data.v + r * data.vStride);
    }
    m_tiles.clear();
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const bool joins = !m_tiles.empty() && m_tiles.back().count < kTileRows &&
                           rows[m_tiles.back().first].sequence == rows[r].sequence;
        if (joins) {
            ++m_tiles.back().count;
        } else {
            m_tiles.push_back({r, 1});
        }
    }
    const Context context = {op, group, window, rows, batch, data};
    // The longest tiles come last in a prefill: start with them, so that the workers end together.
    m_workers.run(m_tiles.size() * op.kvHeads, [&](std::size_t item, std::uint32_t worker) {
        const Tile& tile = m_tiles[m_tiles.size() - 1 - item / op.kvHeads];
        attend(context, tile, static_cast<std::uint32_t>(item % op.kvHeads), m_scratch[worker]);
    });
}

void Attention::attend(const Context& context, const Tile& tile, std::uint32_t kvHead, Scratch& scratch) const {
    const AttentionOp& op = context.op;
    const std::size_t queryHeads = op.queryHeads / op.kvHeads;
    const auto outputOf = [&](std::size_t r, std::size_t g) {
        return context.data.out + (tile.first + r) * context.data.outStride + (kvHead * queryHeads + g) * op.headDim;
    };
    for (std::size_t r = 0; r < tile.count; ++r) {
        for (std::size_t g = 0; g < queryHeads; ++g) {
            scratch.states[r * queryHeads + g] = {-std::numeric_limits<float>::infinity(), 0.0F};
            std::fill_n(outputOf(r, g), op.headDim, 0.0F);
        }
    }
    const std::uint32_t first = firstVisible(context.rows[tile.first].position, context.window);
    const std::uint32_t end = context.rows[tile.first + tile.count - 1].position + 1;
    for (std::uint32_t start = first / kChunkTokens * kChunkTokens; start < end; start += kChunkTokens) {
        chunk(context, tile, kvHead, start, scratch);
    }
    for (std::size_t r = 0; r < tile.count; ++r) {
        for (std::size_t g = 0; g < queryHeads; ++g) {
            m_kernels.scaleRow(outputOf(r, g), 1.0F / scratch.states[r * queryHeads + g].sum, op.headDim);
        }
    }
}

void Attention::chunk(const Context& context, const Tile& tile, std::uint32_t kvHead, std::uint32_t start,
                      Scratch& scratch) const {
    const AttentionOp& op = context.op;
    const std::size_t stride = padded(op.headDim);
    const std::size_t queryHeads = op.queryHeads / op.kvHeads;
    const StepRow& firstRow = context.rows[tile.first];
    const StepRow& lastRow = context.rows[tile.first + tile.count - 1];
    const std::span<const BlockId> table = context.batch.sequences[firstRow.sequence].tables[context.group];
    const std::uint32_t from = std::max(start, firstVisible(firstRow.position, context.window));
    const std::uint32_t to = std::min(start + kChunkTokens, lastRow.position + 1);
    float* keys = scratch.keys.data();
    float* values = scratch.values.data();
    m_kv.readKeys(op.layer, kvHead, table, from, to, keys + (from - start) * stride, stride);
    m_kv.readValues(op.layer, kvHead, table, from, to, values + (from - start) * stride, stride);
    for (std::size_t r = 0; r < tile.count; ++r) {
        const std::uint32_t position = context.rows[tile.first + r].position;
        const std::uint32_t rowFrom = std::max(start, firstVisible(position, context.window));
        const std::uint32_t rowTo = std::min(start + kChunkTokens, position + 1);
        if (rowFrom >= rowTo) continue;
        for (std::size_t g = 0; g < queryHeads; ++g) {
            const std::size_t head = kvHead * queryHeads + g;
            const float* query = context.data.q + (tile.first + r) * context.data.qStride + head * op.headDim;
            float* scores = scratch.scores.data();
            m_kernels.scores(query, keys, stride, op.headDim, rowFrom - start, rowTo - start, op.scale, scores);
            if (op.softcap > 0) m_kernels.softcap(scores + (rowFrom - start), op.softcap, rowTo - rowFrom);
            float* out = context.data.out + (tile.first + r) * context.data.outStride + head * op.headDim;
            m_kernels.accumulate(scores, values, stride, op.headDim, rowFrom - start, rowTo - start,
                                 scratch.states[r * queryHeads + g], out, scratch.chunkOut.data());
        }
    }
}

}  // namespace firsttoken::engine
