#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/tensor/format.h"

/// What a model file becomes: a typed list of operations over activation buffers, with handles to weights.
/// A family (model/families) writes a plan; a backend (compute/) compiles and runs it. Neither knows the other.
///
/// Shapes: a step has R rows (one token of one sequence each). A buffer holds R x width f32 values.
/// A weight matrix has `rows` rows of `columns` values (GGUF ne = {columns, rows}); y[row] = sum_k W[row][k] x[k].
namespace firsttoken::engine {

using WeightId = std::uint32_t;
using BufferId = std::uint32_t;

/// A matrix or vector as it lies in the mapped file. The bytes live as long as the Model that owns the mapping.
struct Weight {
    std::string name;              ///< GGUF tensor name
    WeightFormat format = WeightFormat::F32;
    const std::byte* data = nullptr;
    std::size_t rows = 1;          ///< 1 for vectors
    std::size_t columns = 0;       ///< contiguous dimension

    std::size_t bytes() const { return rows * rowBytes(format, columns); }
};

/// An activation buffer: f32, `width` values a row.
struct Buffer {
    std::string name;
    std::size_t width = 0;
};

/// Layers whose KV lives and dies alike: those with full attention, or those with one window.
struct LayerGroup {
    std::uint32_t window = 0;      ///< tokens visible incl. the query's own; 0 = full attention
    std::vector<std::uint32_t> layers;
};

enum class RopePairing { Adjacent /* (2i, 2i+1), "NORM" */, Halves /* (i, i + R/2), "NEOX" */ };

/// Rotary embedding as angle per pair: angle(i, p) = p * inverseFrequency[i]; both outputs times `magnitude`.
/// All scaling (linear, llama3 factors, YaRN, LongRoPE) is folded into inverseFrequency by the family.
struct RopeTable {
    RopePairing pairing = RopePairing::Halves;
    std::vector<double> inverseFrequency;  ///< R/2 values; dimensions >= R pass unrotated
    float magnitude = 1.0F;
    bool operator==(const RopeTable&) const = default;
};

// --- operations, in the order in which they run ------------------------------------------------------------

/// out = weight[token] * scale. Weight: vocab x width.
struct EmbedOp {
    WeightId weight;
    BufferId out;
    float scale = 1.0F;
};
/// out = x / sqrt(mean(x^2) + eps) * weight, over the whole row, f32.
struct RmsNormOp {
    BufferId in;
    BufferId out;                  ///< may equal `in`
    WeightId weight;
    float epsilon;
};
/// out = weight . in (+ bias). Several of them with the same `in` stand next to each other (a fusion group).
struct MatMulOp {
    BufferId in;
    BufferId out;
    WeightId weight;
    std::int64_t bias = -1;        ///< WeightId, or -1 for none
    std::size_t outOffset = 0;     ///< first column of `out` that is written
};
/// RMS norm of each head's `headDim` values in place (Qwen 3, Gemma 3). Weight: headDim values.
struct HeadNormOp {
    BufferId buffer;
    std::size_t offset;            ///< first column of head 0
    std::uint32_t heads;
    std::uint32_t headDim;
    WeightId weight;
    float epsilon;
};
/// Rotates `heads` heads in place.
struct RopeOp {
    BufferId buffer;
    std::size_t offset;
    std::uint32_t heads;
    std::uint32_t headDim;
    std::uint32_t table;           ///< index into Plan::ropeTables
};
/// Stores k and v of each row into the KV cache of `layer`, then attends:
/// out[h] = softmax(scale * q[h] . K + causal and window mask) V, K and V read as stored (also this step's own).
/// q, k, v may be parts of one buffer. out: queryHeads * headDim values.
struct AttentionOp {
    BufferId q, k, v, out;
    std::size_t qOffset = 0, kOffset = 0, vOffset = 0;
    std::uint32_t layer;
    std::uint32_t queryHeads;
    std::uint32_t kvHeads;
    std::uint32_t headDim;
    float scale;
    float softcap = 0.0F;          ///< c > 0: scores become c * tanh(score / c) before the mask
};
enum class Activation { Silu, GeluTanh };
/// out = activation(gate) * up, elementwise over `width` values; out may be gate.
struct GatedOp {
    BufferId gate, up, out;
    std::size_t gateOffset = 0, upOffset = 0;
    std::size_t width;
    Activation activation;
};
/// target += in.
struct AddOp {
    BufferId target;
    BufferId in;
};
/// From here on, only the rows whose logits are wanted: copies them, in the order asked, from `in` to `out`.
/// Operations after this one see those rows only.
struct SelectRowsOp {
    BufferId in;
    BufferId out;
};
/// buffer = cap * tanh(buffer / cap).
struct SoftcapOp {
    BufferId buffer;
    float cap;
};

using Operation = std::variant<EmbedOp, RmsNormOp, MatMulOp, HeadNormOp, RopeOp, AttentionOp, GatedOp, AddOp,
                               SelectRowsOp, SoftcapOp>;

/// KV width of one layer, for sizes: kvHeads * headDim values each for K and V, a token.
struct KvShape {
    std::uint32_t kvHeads = 0;
    std::uint32_t headDim = 0;
    std::uint32_t group = 0;       ///< index into Plan::groups
};

struct Plan {
    std::vector<Weight> weights;
    std::vector<Buffer> buffers;
    std::vector<RopeTable> ropeTables;
    std::vector<LayerGroup> groups;
    std::vector<KvShape> layers;   ///< by layer number
    std::vector<Operation> operations;
    BufferId logits = 0;           ///< the buffer that holds the logits at the end; width = vocabulary rows
};

}  // namespace firsttoken::engine
