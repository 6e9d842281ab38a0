#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/gguf_file.h"
#include "engine/model/plan.h"
#include "engine/result.h"

namespace firsttoken::engine {

/// Puts a plan together. The first fault stays, and finish() returns it: what is built after it does not matter.
class PlanBuilder {
public:
    explicit PlanBuilder(const GgufFile& file) : m_file(file) {}

    bool ok() const { return !m_fault.has_value(); }
    void fail(Error error) {
        if (!m_fault) m_fault = std::move(error);
    }

    /// A tensor of exactly this shape; the same name gives the same id. Faults: missing, other shape, a format that
    /// this build does not decode.
    WeightId matrix(const std::string& name, std::size_t columns, std::size_t rows);
    WeightId vector(const std::string& name, std::size_t length) { return matrix(name, length, 1); }
    /// As vector(); -1 where the file has no such tensor.
    std::int64_t optionalVector(const std::string& name, std::size_t length);
    /// Decoded values of a vector of `length`; empty where the file has none.
    std::vector<float> optionalValues(const std::string& name, std::size_t length);

    /// One buffer for each name and width.
    BufferId buffer(const std::string& name, std::size_t width);
    /// Index of an equal table, or of a new one.
    std::uint32_t ropeTable(const RopeTable& table);
    /// Adds the next layer to the group with this window (0: full attention).
    void layer(std::uint32_t kvHeads, std::uint32_t headDim, std::uint32_t window);
    void add(Operation operation) { m_plan.operations.push_back(std::move(operation)); }

    Result<Plan> finish(BufferId logits);

private:
    const GgufFile& m_file;
    Plan m_plan;
    std::map<std::string, WeightId> m_weights;
    std::map<std::pair<std::string, std::size_t>, BufferId> m_buffers;
    std::optional<Error> m_fault;
};

}  // namespace firsttoken::engine
