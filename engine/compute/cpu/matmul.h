#pragma once

#include <cstddef>
#include <vector>

#include "engine/compute/backend.h"
#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/worker_pool.h"
#include "engine/model/plan.h"

namespace firsttoken::engine {

/// One product of a fusion group.
struct Product {
    const Weight* weight = nullptr;
    BufferId out = 0;
    std::size_t outOffset = 0;
    const float* bias = nullptr;
};

/// Products that read the same rows: their activations are quantised once and their panels shared out together.
struct MatMulGroup {
    BufferId in = 0;
    std::size_t columns = 0;
    bool int8 = false;  ///< all of them, or none
    std::vector<Product> products;
};

/// Where the rows of a group's products go: product i's row m begins at targets[i].values + m * stride.
struct ProductTarget {
    float* values;
    std::size_t stride;
};

/// Runs fusion groups on the workers. Holds the scratch: quantised rows, and a panel for each worker.
class MatMul {
public:
    MatMul(const Kernels& kernels, WorkerPool& workers) : m_kernels(kernels), m_workers(workers) {}

    /// Room for `rows` rows of `columns` values. Called once for the widest group of either kind.
    void reserve(std::size_t rows, std::size_t int8Columns, std::size_t floatColumns);
    /// in: `rows` rows of group.columns values at `inStride`, zero-padded to kFloatPad.
    void run(const MatMulGroup& group, const float* in, std::size_t inStride, std::size_t rows,
             const std::vector<ProductTarget>& targets);
    std::uint64_t workBytes() const;

private:
    struct Scratch {
        std::vector<std::uint8_t> quants;
        std::vector<float> scales, offsets;
        std::vector<float> weights;  ///< kPanelRows decoded rows
        std::vector<const float*> rowPointers;
    };
    struct RowRange {
        const float* in;
        std::size_t inStride;
        std::size_t first, count;
    };
    void quantize(const MatMulGroup& group, const float* in, std::size_t inStride, std::size_t rows);
    /// Panels [first, last), counted over all products, against some of the rows.
    void runPanels(const MatMulGroup& group, const std::vector<ProductTarget>& targets, std::size_t first,
                   std::size_t last, const RowRange& rows, Scratch& scratch);
    void int8Panel(const Product& product, const ProductTarget& target, std::size_t panel, const RowRange& rows,
                   Scratch& scratch);
    void floatPanel(const Product& product, const ProductTarget& target, std::size_t panel, const RowRange& rows,
                    Scratch& scratch);

    const Kernels& m_kernels;
    WorkerPool& m_workers;
    std::vector<Scratch> m_scratch;  ///< by worker
    std::vector<std::int8_t> m_quants;
    std::vector<float> m_scales, m_sums32, m_sums16;
    std::vector<QuantRow> m_quantRows;
};

}  // namespace firsttoken::engine
