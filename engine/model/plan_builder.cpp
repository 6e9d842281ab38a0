#include "engine/model/plan_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace firsttoken::engine {

WeightId PlanBuilder::matrix(const std::string& name, std::size_t columns, std::size_t rows) {
    if (const auto known = m_weights.find(name); known != m_weights.end()) return known->second;
    const GgufTensor* tensor = m_file.tensor(name);
    if (tensor == nullptr) {
        fail(m_file.fault(fmt::format("the tensor '{}' is missing", name)));
        return 0;
    }
    if (tensor->shape != std::array<std::uint64_t, 4>{columns, rows, 1, 1}) {
        const std::string expected =
            rows == 1 ? fmt::format("{{{}}}", columns) : fmt::format("{{{}, {}}}", columns, rows);
        fail(m_file.fault(
            fmt::format("tensor '{}' has the shape {} where {} is expected", name, shapeText(*tensor), expected)));
        return 0;
    }
    const auto format = m_file.requireFormat(*tensor);
    if (!format) {
        fail(format.error());
        return 0;
    }
    const auto id = static_cast<WeightId>(m_plan.weights.size());
    m_plan.weights.push_back({name, *format, tensor->bytes.data(), rows, columns});
    m_weights.emplace(name, id);
    return id;
}

std::int64_t PlanBuilder::optionalVector(const std::string& name, std::size_t length) {
    if (m_file.tensor(name) == nullptr) return -1;
    return vector(name, length);
}

std::vector<float> PlanBuilder::optionalValues(const std::string& name, std::size_t length) {
    if (m_file.tensor(name) == nullptr) return {};
    const WeightId id = vector(name, length);
    if (!ok()) return {};
    const Weight& weight = m_plan.weights[id];
    std::vector<float> values(length);
    decodeRow(weight.format, weight.data, values.data(), length);
    return values;
}

BufferId PlanBuilder::buffer(const std::string& name, std::size_t width) {
    const auto next = static_cast<BufferId>(m_plan.buffers.size());
    const auto [place, isNew] = m_buffers.emplace(std::pair(name, width), next);
    if (isNew) m_plan.buffers.push_back({name, width});
    return place->second;
}

std::uint32_t PlanBuilder::ropeTable(const RopeTable& table) {
    auto& tables = m_plan.ropeTables;
    const auto found = std::find(tables.begin(), tables.end(), table);
    const auto index = static_cast<std::uint32_t>(found - tables.begin());
    if (found == tables.end()) tables.push_back(table);
    return index;
}

void PlanBuilder::layer(std::uint32_t kvHeads, std::uint32_t headDim, std::uint32_t window) {
    auto& groups = m_plan.groups;
    auto group =
        std::find_if(groups.begin(), groups.end(), [window](const LayerGroup& g) { return g.window == window; });
    if (group == groups.end()) group = groups.insert(groups.end(), LayerGroup{window, {}});
    group->layers.push_back(static_cast<std::uint32_t>(m_plan.layers.size()));
    m_plan.layers.push_back({kvHeads, headDim, static_cast<std::uint32_t>(group - groups.begin())});
}

Result<Plan> PlanBuilder::finish(BufferId logits) {
    if (m_fault) return *m_fault;
    m_plan.logits = logits;
    return std::move(m_plan);
}

}  // namespace firsttoken::engine
