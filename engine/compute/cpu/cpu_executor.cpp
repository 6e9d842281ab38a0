#include "engine/compute/cpu/cpu_executor.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace firsttoken::engine {

namespace {

/// Values of work below which waking the workers costs more than it saves.
constexpr std::size_t kAloneValues = 16384;

std::size_t padded(std::size_t width) { return (width + kFloatPad - 1) / kFloatPad * kFloatPad; }

std::uint32_t threadCount(std::uint32_t asked) {
    return asked != 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

std::vector<float> decodeVector(const Weight& weight) {
    std::vector<float> values(weight.rows * weight.columns);
    const std::size_t bytes = rowBytes(weight.format, weight.columns);
    for (std::size_t r = 0; r < weight.rows; ++r) {
        decodeRow(weight.format, weight.data + r * bytes, values.data() + r * weight.columns, weight.columns);
    }
    return values;
}

Error planError(const std::string& what) { return Error{ErrorCode::Internal, "plan: " + what}; }

}  // namespace

CpuExecutor::CpuExecutor(const Plan& plan, const BackendOptions& options, const Kernels& kernels, KvStore kv)
    : m_plan(plan),
      m_options(options),
      m_kernels(kernels),
      m_kv(std::move(kv)),
      m_workers(threadCount(options.threads)),
      m_matMul(kernels, m_workers),
      m_attention(kernels, m_kv, m_workers) {}

Result<std::unique_ptr<Executor>> CpuExecutor::create(const Plan& plan, const BackendOptions& options,
                                                      const Kernels& kernels) {
    if (options.groupBlocks.size() != plan.groups.size()) return planError("a pool size is missing for a layer group");
    auto kv = KvStore::create(plan, options, kernels);
    if (!kv) return kv.error();
    std::unique_ptr<CpuExecutor> executor(new CpuExecutor(plan, options, kernels, std::move(kv).value()));
    if (auto compiled = executor->compile(); !compiled) return compiled.error();
    if (auto allocated = executor->allocate(); !allocated) return allocated.error();
    return std::unique_ptr<Executor>(std::move(executor));
}

Status CpuExecutor::compile() {
    m_vectors.resize(m_plan.weights.size());
    const auto needVector = [&](WeightId id) { m_vectors[id] = decodeVector(m_plan.weights[id]); };
    for (const Operation& operation : m_plan.operations) {
        if (const auto* norm = std::get_if<RmsNormOp>(&operation)) needVector(norm->weight);
        if (const auto* norm = std::get_if<HeadNormOp>(&operation)) needVector(norm->weight);
        if (const auto* product = std::get_if<MatMulOp>(&operation)) {
            if (product->bias >= 0) needVector(static_cast<WeightId>(product->bias));
            if (auto added = compileMatMul(*product); !added) return added;
            continue;
        }
        std::visit(
            [&](const auto& op) {
                if constexpr (!std::is_same_v<std::decay_t<decltype(op)>, MatMulOp>) m_operations.emplace_back(op);
            },
            operation);
    }
    return Done{};
}

/// Joins the product to the group before it where that one reads the same buffer in the same arithmetic.
Status CpuExecutor::compileMatMul(const MatMulOp& op) {
    const Weight& weight = m_plan.weights[op.weight];
    if (weight.columns != m_plan.buffers[op.in].width) {
        return planError("'" + weight.name + "' does not fit buffer '" + m_plan.buffers[op.in].name + "'");
    }
    if (op.outOffset + weight.rows > m_plan.buffers[op.out].width) {
        return planError("'" + weight.name + "' is wider than buffer '" + m_plan.buffers[op.out].name + "'");
    }
    const bool int8 = !traits(weight.format).isFloat && m_options.arithmetic == Arithmetic::AsStored;
    const Product product = {&weight, op.out, op.outOffset,
                             op.bias >= 0 ? vector(static_cast<WeightId>(op.bias)) : nullptr};
    if (!m_operations.empty()) {
        auto* group = std::get_if<MatMulGroup>(&m_operations.back());
        const bool joins = group != nullptr && group->in == op.in && group->int8 == int8;
        if (joins) {
            group->products.push_back(product);
            return Done{};
        }
    }
    m_operations.emplace_back(MatMulGroup{op.in, weight.columns, int8, {product}});
    return Done{};
}

Status CpuExecutor::allocate() {
    const std::size_t rows = std::min<std::size_t>(m_options.maxRows, kSliceRows);
    for (BufferId id = 0; id < m_plan.buffers.size(); ++id) {
        Activations buffer;
        buffer.stride = padded(m_plan.buffers[id].width);
        if (id != m_plan.logits) {
            auto memory = PageMemory::allocate(rows * buffer.stride * sizeof(float));
            if (!memory) return memory.error();
            buffer.memory = std::move(memory).value();
        }
        m_buffers.push_back(std::move(buffer));
    }
    std::size_t int8Columns = 0, floatColumns = 0, headDim = 0, queryHeads = 1;
    for (const CompiledOp& operation : m_operations) {
        if (const auto* group = std::get_if<MatMulGroup>(&operation)) {
            std::size_t& most = group->int8 ? int8Columns : floatColumns;
            most = std::max(most, group->columns);
        } else if (const auto* attention = std::get_if<AttentionOp>(&operation)) {
            headDim = std::max<std::size_t>(headDim, attention->headDim);
            queryHeads = std::max<std::size_t>(queryHeads, attention->queryHeads / attention->kvHeads);
        }
    }
    m_matMul.reserve(rows, int8Columns, floatColumns);
    m_attention.reserve(headDim, queryHeads);
    m_rotations.resize(m_plan.ropeTables.size());
    return Done{};
}

std::uint64_t CpuExecutor::workBytes() const {
    std::uint64_t bytes = m_matMul.workBytes() + m_attention.workBytes();
    for (const Activations& buffer : m_buffers) bytes += buffer.memory.data() != nullptr ? buffer.memory.bytes() : 0;
    for (const auto& values : m_vectors) bytes += 4 * values.size();
    return bytes;
}

std::string CpuExecutor::arithmeticName() const {
    for (const CompiledOp& operation : m_operations) {
        const auto* group = std::get_if<MatMulGroup>(&operation);
        if (group != nullptr && group->int8) return "int8";
    }
    return "f32";
}

float* CpuExecutor::row(BufferId buffer, std::size_t index) const {
    if (buffer == m_plan.logits) return m_slice.logits + index * vocabulary();
    return reinterpret_cast<float*>(m_buffers[buffer].memory.data()) + index * m_buffers[buffer].stride;
}

std::size_t CpuExecutor::stride(BufferId buffer) const {
    return buffer == m_plan.logits ? vocabulary() : m_buffers[buffer].stride;
}

template <class Function>
void CpuExecutor::eachRow(std::size_t valuesPerRow, Function function) {
    if (m_slice.count * valuesPerRow < kAloneValues) {
        for (std::size_t r = 0; r < m_slice.count; ++r) function(r);
        return;
    }
    m_workers.run(m_slice.count, [&](std::size_t r, std::uint32_t) { function(r); });
}

Status CpuExecutor::run(const StepBatch& batch, std::span<float> logits) {
    m_counts = {};
    std::size_t nextLogit = 0;
    for (std::size_t first = 0; first < batch.rows.size(); first += kSliceRows) {
        const std::size_t count = std::min(kSliceRows, batch.rows.size() - first);
        m_slice.rows = std::span(batch.rows).subspan(first, count);
        m_slice.batch = &batch;
        m_slice.count = count;
        m_slice.logits = logits.data() + nextLogit * vocabulary();
        m_slice.selected.clear();
        while (nextLogit < batch.logitRows.size() && batch.logitRows[nextLogit] < first + count) {
            m_slice.selected.push_back(static_cast<std::uint32_t>(batch.logitRows[nextLogit] - first));
            ++nextLogit;
        }
        runSlice();
    }
    return Done{};
}

void CpuExecutor::runSlice() {
    prepareRope();
    for (const CompiledOp& operation : m_operations) {
        if (m_slice.count == 0) break;  // no logits wanted of this slice
        std::visit([this](const auto& op) { execute(op); }, operation);
    }
}

/// cos and sin of every row's position, in double, for each table.
void CpuExecutor::prepareRope() {
    for (std::size_t t = 0; t < m_plan.ropeTables.size(); ++t) {
        const RopeTable& table = m_plan.ropeTables[t];
        const std::size_t pairs = table.inverseFrequency.size();
        std::vector<float>& rotations = m_rotations[t];
        rotations.resize(m_slice.rows.size() * pairs * 2);
        eachRow(pairs * 64, [&](std::size_t r) {
            float* out = rotations.data() + r * pairs * 2;
            for (std::size_t i = 0; i < pairs; ++i) {
                const double angle = m_slice.rows[r].position * table.inverseFrequency[i];
                out[2 * i] = static_cast<float>(std::cos(angle)) * table.magnitude;
                out[2 * i + 1] = static_cast<float>(std::sin(angle)) * table.magnitude;
            }
        });
    }
}

void CpuExecutor::execute(const EmbedOp& op) {
    const Weight& weight = m_plan.weights[op.weight];
    const std::size_t bytes = rowBytes(weight.format, weight.columns);
    eachRow(weight.columns, [&](std::size_t r) {
        const auto token = static_cast<std::size_t>(m_slice.rows[r].token);
        float* out = row(op.out, r);
        m_kernels.decodeRow(weight.format, weight.data + token * bytes, out, weight.columns);
        if (op.scale != 1.0F) m_kernels.scaleRow(out, op.scale, weight.columns);
    });
}

void CpuExecutor::execute(const RmsNormOp& op) {
    const std::size_t width = m_plan.buffers[op.in].width;
    eachRow(width, [&](std::size_t r) {
        m_kernels.rmsNorm(row(op.in, r), vector(op.weight), op.epsilon, width, row(op.out, r));
    });
}

void CpuExecutor::execute(const HeadNormOp& op) {
    eachRow(std::size_t{op.heads} * op.headDim, [&](std::size_t r) {
        for (std::uint32_t head = 0; head < op.heads; ++head) {
            float* values = row(op.buffer, r) + op.offset + std::size_t{head} * op.headDim;
            m_kernels.rmsNorm(values, vector(op.weight), op.epsilon, op.headDim, values);
        }
    });
}

void CpuExecutor::execute(const RopeOp& op) {
    const RopeTable& table = m_plan.ropeTables[op.table];
    const std::size_t pairs = table.inverseFrequency.size();
    const bool adjacent = table.pairing == RopePairing::Adjacent;
    eachRow(std::size_t{op.heads} * op.headDim, [&](std::size_t r) {
        const float* rotation = m_rotations[op.table].data() + r * pairs * 2;
        for (std::uint32_t head = 0; head < op.heads; ++head) {
            float* values = row(op.buffer, r) + op.offset + std::size_t{head} * op.headDim;
            for (std::size_t i = 0; i < pairs; ++i) {
                float& x = values[adjacent ? 2 * i : i];
                float& y = values[adjacent ? 2 * i + 1 : i + pairs];
                const float cosine = rotation[2 * i], sine = rotation[2 * i + 1];
                const float rotated = x * cosine - y * sine;
                y = x * sine + y * cosine;
                x = rotated;
            }
        }
    });
}

void CpuExecutor::execute(const AttentionOp& op) {
    const std::uint32_t group = m_plan.layers[op.layer].group;
    const std::uint32_t window = m_plan.groups[group].window;
    const Attention::Rows data = {row(op.q, 0) + op.qOffset,
                                  row(op.k, 0) + op.kOffset,
                                  row(op.v, 0) + op.vOffset,
                                  row(op.out, 0),
                                  stride(op.q),
                                  stride(op.k),
                                  stride(op.v),
                                  stride(op.out)};
    m_attention.run(op, group, window, m_options.blockTokens, m_slice.rows, *m_slice.batch, data);
    for (const StepRow& each : m_slice.rows) {
        const std::uint64_t visible = window == 0 ? each.position + 1 : std::min(each.position + 1, window);
        m_counts.kvBytesRead += 2 * visible * op.kvHeads * op.headDim * m_kv.valueBytes();
        m_counts.multiplyAdds += 2 * visible * op.queryHeads * op.headDim;
    }
}

void CpuExecutor::execute(const GatedOp& op) {
    const auto gate = op.activation == Activation::Silu ? m_kernels.siluGate : m_kernels.geluGate;
    eachRow(op.width * 4, [&](std::size_t r) {
        gate(row(op.gate, r) + op.gateOffset, row(op.up, r) + op.upOffset, row(op.out, r), op.width);
    });
}

void CpuExecutor::execute(const AddOp& op) {
    const std::size_t width = m_plan.buffers[op.target].width;
    eachRow(width, [&](std::size_t r) { m_kernels.addRow(row(op.target, r), row(op.in, r), width); });
}

void CpuExecutor::execute(const SelectRowsOp& op) {
    const std::size_t width = m_plan.buffers[op.in].width;
    for (std::size_t i = 0; i < m_slice.selected.size(); ++i) {
        std::copy_n(row(op.in, m_slice.selected[i]), width, row(op.out, i));
    }
    m_slice.count = m_slice.selected.size();
}

void CpuExecutor::execute(const SoftcapOp& op) {
    const std::size_t width = m_plan.buffers[op.buffer].width;
    eachRow(width * 4, [&](std::size_t r) { m_kernels.softcap(row(op.buffer, r), op.cap, width); });
}

void CpuExecutor::execute(const MatMulGroup& group) {
    std::vector<ProductTarget> targets;
    for (const Product& product : group.products) {
        targets.push_back({row(product.out, 0) + product.outOffset, stride(product.out)});
        m_counts.weightBytes += product.weight->bytes();
        m_counts.multiplyAdds += m_slice.count * product.weight->rows * product.weight->columns;
    }
    m_matMul.run(group, row(group.in, 0), stride(group.in), m_slice.count, targets);
}

}  // namespace firsttoken::engine
