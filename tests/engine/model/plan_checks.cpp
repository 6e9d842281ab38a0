#include "tests/engine/model/plan_checks.h"

#include <set>

namespace firsttoken::tests {

namespace {

using namespace firsttoken::engine;

class Checker {
public:
    explicit Checker(const Plan& plan) : m_plan(plan) {}

    std::string check() {
        for (const Weight& weight : m_plan.weights) {
            expect(weight.data != nullptr && weight.columns > 0 && weight.rows > 0, weight.name + " is empty");
            expect(reinterpret_cast<std::uintptr_t>(weight.data) % 4 == 0, weight.name + " is not aligned");
        }
        for (const Operation& operation : m_plan.operations)
            std::visit([this](const auto& op) { visit(op); }, operation);
        expect(m_selections == 1, "rows are selected once");
        expect(m_layers.size() == m_plan.layers.size(), "each layer attends once");
        groups();
        return m_fault;
    }

private:
    void expect(bool holds, const std::string& what) {
        if (!holds && m_fault.empty()) m_fault = what;
    }
    std::size_t width(BufferId id) {
        expect(id < m_plan.buffers.size(), "buffer id");
        return m_fault.empty() ? m_plan.buffers[id].width : 0;
    }
    const Weight& weight(std::int64_t id) {
        static const Weight none;
        expect(id >= 0 && id < static_cast<std::int64_t>(m_plan.weights.size()), "weight id");
        return m_fault.empty() ? m_plan.weights[static_cast<std::size_t>(id)] : none;
    }

    void visit(const EmbedOp& op) { expect(weight(op.weight).columns == width(op.out), "embedding width"); }
    void visit(const RmsNormOp& op) {
        expect(weight(op.weight).columns == width(op.in) && width(op.in) == width(op.out), "norm width");
    }
    void visit(const MatMulOp& op) {
        const Weight& matrix = weight(op.weight);
        expect(matrix.columns == width(op.in), matrix.name + " does not fit its input");
        expect(op.outOffset + matrix.rows <= width(op.out), matrix.name + " does not fit its output");
        if (op.bias >= 0) expect(weight(op.bias).columns == matrix.rows, matrix.name + " has another bias");
        expect(op.in != op.out, "a product in place");
    }
    void visit(const HeadNormOp& op) {
        expect(weight(op.weight).columns == op.headDim, "head norm width");
        expect(op.offset + std::size_t{op.heads} * op.headDim <= width(op.buffer), "head norm range");
    }
    void visit(const RopeOp& op) {
        expect(op.table < m_plan.ropeTables.size(), "rope table id");
        expect(op.offset + std::size_t{op.heads} * op.headDim <= width(op.buffer), "rope range");
        if (m_fault.empty()) {
            expect(m_plan.ropeTables[op.table].inverseFrequency.size() * 2 <= op.headDim, "rope table size");
        }
    }
    void visit(const AttentionOp& op) {
        expect(op.layer == m_layers.size() && m_layers.insert(op.layer).second, "layers in order");
        expect(op.layer < m_plan.layers.size(), "layer id");
        if (!m_fault.empty()) return;
        const KvShape& shape = m_plan.layers[op.layer];
        expect(shape.kvHeads == op.kvHeads && shape.headDim == op.headDim, "KV shape");
        expect(op.kvHeads > 0 && op.queryHeads % op.kvHeads == 0, "heads");
        expect(op.qOffset + std::size_t{op.queryHeads} * op.headDim <= width(op.q), "q range");
        expect(op.kOffset + std::size_t{op.kvHeads} * op.headDim <= width(op.k), "k range");
        expect(op.vOffset + std::size_t{op.kvHeads} * op.headDim <= width(op.v), "v range");
        expect(std::size_t{op.queryHeads} * op.headDim == width(op.out), "attention output");
        expect(op.scale > 0.0F, "attention scale");
    }
    void visit(const GatedOp& op) {
        expect(op.gateOffset + op.width <= width(op.gate) && op.upOffset + op.width <= width(op.up) &&
                   op.width == width(op.out),
               "gate width");
    }
    void visit(const AddOp& op) { expect(width(op.target) == width(op.in), "sum width"); }
    void visit(const SelectRowsOp& op) {
        expect(width(op.in) == width(op.out) && op.in != op.out, "selection width");
        ++m_selections;
    }
    void visit(const SoftcapOp& op) { expect(op.cap > 0 && op.buffer == m_plan.logits, "softcap"); }

    void groups() {
        std::set<std::uint32_t> seen;
        for (std::size_t g = 0; g < m_plan.groups.size(); ++g) {
            for (const std::uint32_t layer : m_plan.groups[g].layers) {
                expect(layer < m_plan.layers.size() && m_plan.layers[layer].group == g, "group of a layer");
                expect(seen.insert(layer).second, "a layer in two groups");
            }
        }
        expect(seen.size() == m_plan.layers.size(), "a layer in no group");
    }

    const Plan& m_plan;
    std::string m_fault;
    std::set<std::uint32_t> m_layers;
    int m_selections = 0;
};

}  // namespace

std::string planFault(const Plan& plan) { return Checker(plan).check(); }

}  // namespace firsttoken::tests
