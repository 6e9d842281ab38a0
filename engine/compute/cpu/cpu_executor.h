#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/compute/backend.h"
#include "engine/compute/cpu/attention.h"
#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/kv_store.h"
#include "engine/compute/cpu/matmul.h"
#include "engine/compute/cpu/worker_pool.h"

namespace firsttoken::engine {

/// Runs a plan on the CPU: operation after operation over all rows of a slice of the step, each operation shared by
/// the workers. Steps longer than kSliceRows run slice by slice, which gives the same bits.
class CpuExecutor final : public Executor {
public:
    static constexpr std::size_t kSliceRows = 512;

    static Result<std::unique_ptr<Executor>> create(const Plan& plan, const BackendOptions& options,
                                                    const Kernels& kernels);

    Status run(const StepBatch& batch, std::span<float> logits) override;
    StepCounts lastCounts() const override { return m_counts; }
    std::size_t vocabulary() const override { return m_plan.buffers[m_plan.logits].width; }
    std::uint64_t kvBytes() const override { return m_kv.bytes(); }
    std::uint64_t workBytes() const override;
    std::string isa() const override { return m_kernels.name; }
    std::string arithmeticName() const override;

private:
    struct Activations {
        PageMemory memory;
        std::size_t stride = 0;  ///< values a row, padded with zeros
    };
    using CompiledOp = std::variant<EmbedOp, RmsNormOp, HeadNormOp, RopeOp, AttentionOp, GatedOp, AddOp, SelectRowsOp,
                                    SoftcapOp, MatMulGroup>;
    /// The rows at work: a part of the batch, or the selected ones of it.
    struct Slice {
        std::span<const StepRow> rows;
        std::vector<std::uint32_t> selected;  ///< indices into rows
        float* logits = nullptr;
        std::size_t count = 0;  ///< rows that operations see now
        const StepBatch* batch = nullptr;
    };

    CpuExecutor(const Plan& plan, const BackendOptions& options, const Kernels& kernels, KvStore kv);
    Status compile();
    Status compileMatMul(const MatMulOp& op);
    Status allocate();

    float* row(BufferId buffer, std::size_t index) const;
    std::size_t stride(BufferId buffer) const;
    const float* vector(WeightId weight) const { return m_vectors[weight].data(); }
    /// function(row index) over the rows of the slice, on the workers where it pays.
    template <class Function>
    void eachRow(std::size_t valuesPerRow, Function function);
    void runSlice();
    void prepareRope();

    void execute(const EmbedOp& op);
    void execute(const RmsNormOp& op);
    void execute(const HeadNormOp& op);
    void execute(const RopeOp& op);
    void execute(const AttentionOp& op);
    void execute(const GatedOp& op);
    void execute(const AddOp& op);
    void execute(const SelectRowsOp& op);
    void execute(const SoftcapOp& op);
    void execute(const MatMulGroup& group);

    const Plan& m_plan;
    BackendOptions m_options;
    const Kernels& m_kernels;
    KvStore m_kv;
    WorkerPool m_workers;
    MatMul m_matMul;
    Attention m_attention;
    std::vector<CompiledOp> m_operations;
    std::vector<std::vector<float>> m_vectors;  ///< by WeightId: norm weights and biases in f32
    std::vector<Activations> m_buffers;
    std::vector<std::vector<float>> m_rotations;  ///< by rope table: rows x pairs x (cos, sin)
    Slice m_slice;
    StepCounts m_counts;
};

}  // namespace firsttoken::engine
