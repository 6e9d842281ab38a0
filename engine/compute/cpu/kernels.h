#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/tensor/format.h"

/// The CPU kernels of one instruction set, as a table of functions over raw pointers. Every result depends on its
/// own inputs only: one arithmetic whatever the number of rows beside it. No allocation, no threads in here.
namespace firsttoken::engine {

/// Weight rows a panel: each SIMD lane owns one output row, so nothing is summed across lanes.
inline constexpr std::size_t kPanelRows = 8;
/// Elements that share one activation scale.
inline constexpr std::size_t kActivationBlock = 32;
/// f32 rows are padded with zeros to a multiple of this, so that tails need no other code.
inline constexpr std::size_t kFloatPad = 8;

/// How a block format's unpacked quants are multiplied.
struct PanelKind {
    std::uint8_t groupElements;  ///< elements that share a scale (and offset): 16 or 32
    std::uint8_t maxQuant;       ///< 15, 31 or 63: unsigned quants; 0: signed, -128 … 127
    bool hasOffset;              ///< value = scale * quant + offset
};
/// Pre: a block format (traits().isFloat false).
PanelKind panelKind(WeightFormat format);

/// Eight weight rows of one matrix, unpacked. quants: for each 4 columns, 8 rows x 4 bytes;
/// scales, offsets: for each group, 8 rows.
struct Panel {
    std::uint8_t* quants;
    float* scales;
    float* offsets;
};

/// One activation row in int8: value = scale[b] * quants[i], b = i / 32, scale = max|x| / 127.
struct QuantRow {
    std::int8_t* quants;  ///< columns values
    float* scales;        ///< columns / 32
    float* sums32;        ///< scale * sum of the block's quants, columns / 32
    float* sums16;        ///< the same by half block, columns / 16
};

/// Where a product goes: row m of the result begins at values + m * stride.
struct Output {
    float* values;
    std::size_t stride;
    const float* bias;  ///< one value an output column, or null
    std::size_t count;  ///< output columns that are written
};

/// Running state of one query head's softmax over chunks of keys.
struct SoftmaxState {
    float maximum;
    float sum;
};

struct Kernels {
    const char* name;

    // --- int8 products
    void (*quantizeRow)(const float* values, std::size_t columns, const QuantRow& out);
    /// rows: 8 pointers to weight rows (repeat one where the matrix ends).
    void (*unpackPanel)(WeightFormat format, const std::byte* const* rows, std::size_t columns, const Panel& panel);
    /// out[m][0 … out.count) = panel . rows[m] (+ bias); out.count <= 8.
    void (*panelProduct)(PanelKind kind, const Panel& panel, std::size_t columns, const QuantRow* rows,
                         std::size_t rowCount, const Output& out);

    // --- f32 products
    /// Decodes `elements` values; faster than decodeRow for the formats that the set knows.
    void (*decodeRow)(WeightFormat format, const std::byte* source, float* values, std::size_t elements);
    /// out[m][0 … out.count) = weights[n] . rows[m] (+ bias). weights: out.count <= 8 rows of `padded` values,
    /// rows: `padded` values each, zero beyond the columns.
    void (*floatProduct)(const float* const* weights, std::size_t padded, const float* const* rows,
                         std::size_t rowCount, const Output& out);

    // --- row operations
    void (*rmsNorm)(const float* in, const float* weight, float epsilon, std::size_t width, float* out);
    void (*addRow)(float* target, const float* in, std::size_t width);
    void (*siluGate)(const float* gate, const float* up, float* out, std::size_t width);
    void (*geluGate)(const float* gate, const float* up, float* out, std::size_t width);
    void (*softcap)(float* values, float cap, std::size_t width);

    // --- attention
    void (*floatsToHalves)(const float* in, std::uint16_t* out, std::size_t count);
    void (*halvesToFloats)(const std::uint16_t* in, float* out, std::size_t count);
    /// scores[t] = scale * query . keys[t] for t in [first, last); keys: rows of `dim` values at `keyStride`.
    void (*scores)(const float* query, const float* keys, std::size_t keyStride, std::size_t dim, std::size_t first,
                   std::size_t last, float scale, float* scores);
    /// Folds the chunk's scores[first … last) and its values (rows of `dim` at `valueStride`) into `state` and
    /// `out` (dim values, unnormalised). Scores are overwritten.
    void (*accumulate)(float* scores, const float* values, std::size_t valueStride, std::size_t dim, std::size_t first,
                       std::size_t last, SoftmaxState& state, float* out, float* chunkOut);
    void (*scaleRow)(float* values, float factor, std::size_t width);
};

const Kernels& plainKernels();
#ifdef FIRSTTOKEN_AVX2
const Kernels& avx2Kernels();
#endif

/// The scalar unpacking that every other one must equal bit for bit.
void unpackPanelPlain(WeightFormat format, const std::byte* const* rows, std::size_t columns, const Panel& panel);
void panelProductPlain(PanelKind kind, const Panel& panel, std::size_t columns, const QuantRow* rows,
                       std::size_t rowCount, const Output& out);
#ifdef FIRSTTOKEN_AVX2
void unpackPanelAvx2(WeightFormat format, const std::byte* const* rows, std::size_t columns, const Panel& panel);
void panelProductAvx2(PanelKind kind, const Panel& panel, std::size_t columns, const QuantRow* rows,
                      std::size_t rowCount, const Output& out);
#endif

}  // namespace firsttoken::engine
