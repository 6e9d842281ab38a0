#include "engine/compute/cpu/matmul.h"

#include <algorithm>

namespace firsttoken::engine {

namespace {

/// Activation rows that pass one unpacked panel before the next panel comes: they stay in the core's own cache.
constexpr std::size_t kRowBlock = 128;
/// Work items a worker gets of one group: enough to even out, few enough to cost nothing.
constexpr std::size_t kItemsPerWorker = 8;

std::size_t padded(std::size_t columns) { return (columns + kFloatPad - 1) / kFloatPad * kFloatPad; }
std::size_t panels(const Weight& weight) { return (weight.rows + kPanelRows - 1) / kPanelRows; }

}  // namespace

void MatMul::reserve(std::size_t rows, std::size_t int8Columns, std::size_t floatColumns) {
    m_quants.resize(rows * int8Columns);
    m_scales.resize(rows * int8Columns / kActivationBlock);
    m_sums32.resize(m_scales.size());
    m_sums16.resize(2 * m_scales.size());
    m_quantRows.resize(rows);
    m_scratch.resize(m_workers.threads());
    for (Scratch& scratch : m_scratch) {
        scratch.quants.resize(kPanelRows * int8Columns);
        scratch.scales.resize(kPanelRows * int8Columns / 16);
        scratch.offsets.resize(scratch.scales.size());
        scratch.weights.resize(kPanelRows * padded(floatColumns));
        scratch.rowPointers.resize(rows);
    }
}

std::uint64_t MatMul::workBytes() const {
    std::uint64_t bytes = m_quants.size() + 4 * (m_scales.size() + m_sums32.size() + m_sums16.size());
    for (const Scratch& scratch : m_scratch) {
        bytes += scratch.quants.size() + 4 * (scratch.scales.size() + scratch.offsets.size() + scratch.weights.size());
    }
    return bytes;
}

void MatMul::quantize(const MatMulGroup& group, const float* in, std::size_t inStride, std::size_t rows) {
    const std::size_t blocks = group.columns / kActivationBlock;
    for (std::size_t m = 0; m < rows; ++m) {
        m_quantRows[m] = {m_quants.data() + m * group.columns, m_scales.data() + m * blocks,
                          m_sums32.data() + m * blocks, m_sums16.data() + 2 * m * blocks};
    }
    const auto quantizeRow = [&](std::size_t m, std::uint32_t) {
        m_kernels.quantizeRow(in + m * inStride, group.columns, m_quantRows[m]);
    };
    if (rows < 8) {
        for (std::size_t m = 0; m < rows; ++m) quantizeRow(m, 0);
    } else {
        m_workers.run(rows, quantizeRow);
    }
}

void MatMul::run(const MatMulGroup& group, const float* in, std::size_t inStride, std::size_t rows,
                 const std::vector<ProductTarget>& targets) {
    if (rows == 0) return;
    if (group.int8) quantize(group, in, inStride, rows);
    std::size_t total = 0;
    for (const Product& product : group.products) total += panels(*product.weight);
    const std::size_t items = std::min(total, m_workers.threads() * kItemsPerWorker);
    m_workers.run(items, [&](std::size_t item, std::uint32_t worker) {
        const std::size_t first = item * total / items, last = (item + 1) * total / items;
        for (std::size_t m = 0; m < rows; m += kRowBlock) {
            const RowRange range = {in, inStride, m, std::min(kRowBlock, rows - m)};
            runPanels(group, targets, first, last, range, m_scratch[worker]);
        }
    });
}

void MatMul::runPanels(const MatMulGroup& group, const std::vector<ProductTarget>& targets, std::size_t first,
                       std::size_t last, const RowRange& rows, Scratch& scratch) {
    std::size_t before = 0;
    for (std::size_t i = 0; i < group.products.size(); ++i) {
        const Product& product = group.products[i];
        const std::size_t own = panels(*product.weight);
        const ProductTarget target = {targets[i].values + rows.first * targets[i].stride, targets[i].stride};
        for (std::size_t p = std::max(first, before); p < std::min(last, before + own); ++p) {
            if (group.int8) {
                int8Panel(product, target, p - before, rows, scratch);
            } else {
                floatPanel(product, target, p - before, rows, scratch);
            }
        }
        before += own;
    }
}

void MatMul::int8Panel(const Product& product, const ProductTarget& target, std::size_t panel, const RowRange& rows,
                       Scratch& scratch) {
    const Weight& weight = *product.weight;
    const std::size_t bytes = rowBytes(weight.format, weight.columns);
    const std::size_t firstRow = panel * kPanelRows;
    const std::byte* pointers[kPanelRows];
    for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
        pointers[lane] = weight.data + std::min(firstRow + lane, weight.rows - 1) * bytes;
    }
    const Panel unpacked = {scratch.quants.data(), scratch.scales.data(), scratch.offsets.data()};
    m_kernels.unpackPanel(weight.format, pointers, weight.columns, unpacked);
    const Output out = {target.values + firstRow, target.stride,
                        product.bias != nullptr ? product.bias + firstRow : nullptr,
                        std::min(kPanelRows, weight.rows - firstRow)};
    m_kernels.panelProduct(panelKind(weight.format), unpacked, weight.columns, m_quantRows.data() + rows.first,
                           rows.count, out);
}

void MatMul::floatPanel(const Product& product, const ProductTarget& target, std::size_t panel, const RowRange& rows,
                        Scratch& scratch) {
    const Weight& weight = *product.weight;
    const std::size_t bytes = rowBytes(weight.format, weight.columns);
    const std::size_t firstRow = panel * kPanelRows;
    const std::size_t count = std::min(kPanelRows, weight.rows - firstRow);
    const std::size_t length = padded(weight.columns);
    const float* pointers[kPanelRows] = {};
    for (std::size_t n = 0; n < count; ++n) {
        const std::byte* source = weight.data + (firstRow + n) * bytes;
        const bool asItLies = weight.format == WeightFormat::F32 && length == weight.columns &&
                              reinterpret_cast<std::uintptr_t>(source) % alignof(float) == 0;
        if (asItLies) {
            pointers[n] = reinterpret_cast<const float*>(source);
            continue;
        }
        float* decoded = scratch.weights.data() + n * length;
        m_kernels.decodeRow(weight.format, source, decoded, weight.columns);
        std::fill(decoded + weight.columns, decoded + length, 0.0F);
        pointers[n] = decoded;
    }
    for (std::size_t m = 0; m < rows.count; ++m) {
        scratch.rowPointers[m] = rows.in + (rows.first + m) * rows.inStride;
    }
    const Output out = {target.values + firstRow, target.stride,
                        product.bias != nullptr ? product.bias + firstRow : nullptr, count};
    m_kernels.floatProduct(pointers, length, scratch.rowPointers.data(), rows.count, out);
}

}  // namespace firsttoken::engine
