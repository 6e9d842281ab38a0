#include "engine/schedule/step_time_model.h"

#include <algorithm>

namespace firsttoken::engine {

namespace {
constexpr double outlierFactor = 4;     // a sample counts as at most this many times the expected value
constexpr double newestShare = 0.2;     // weight of a new sample in an average
constexpr double leastRowShare = 0.02;  // a prefill row costs at least this share of its step's time per row
constexpr double olderShare = 0.9;      // weight of a decode step against the one after it
constexpr std::uint64_t learning = 4;   // samples that are taken as they come
}  // namespace

void StepTimeModel::Average::add(double sample) {
    if (steps >= learning) sample = std::clamp(sample, value / outlierFactor, value * outlierFactor);
    ++steps;
    value += (sample - value) * std::max(newestShare, 1.0 / static_cast<double>(steps));
}

void StepTimeModel::observe(std::uint32_t prefillRows, std::uint32_t decodeRows, Nanoseconds duration) {
    if (duration < 1 || (prefillRows == 0 && decodeRows == 0)) return;
    auto ns = static_cast<double>(duration);
    if (prefillRows == 0) {
        if (m_decodeSteps >= learning) ns = std::min(ns, outlierFactor * decodeStepNs(decodeRows));
        m_decodes[m_decodeSteps % kept] = {static_cast<double>(decodeRows), ns};
        ++m_decodeSteps;
        fitDecode();
        return;
    }
    if (decodeRows > 0 && !knowsDecode()) return;  // nothing tells the two shares apart
    const double rest = decodeRows > 0 ? decodeStepNs(decodeRows) : m_base;
    const double share = std::max(ns - rest, leastRowShare * ns);
    (decodeRows > 0 ? m_beside : m_alone).add(share / static_cast<double>(prefillRows));
}

double StepTimeModel::decodeStepNs(std::uint32_t decodeRows) const {
    return m_base + m_perDecodeRow * static_cast<double>(decodeRows);
}

double StepTimeModel::prefillRowNs(bool besideDecodes) const {
    const Average& wanted = besideDecodes ? m_beside : m_alone;
    const Average& other = besideDecodes ? m_alone : m_beside;
    return wanted.steps > 0 ? wanted.value : other.value;
}

std::uint32_t StepTimeModel::prefillRowsWithin(double budgetNs, bool besideDecodes) const {
    const double row = prefillRowNs(besideDecodes);
    if (row <= 0) return 0;
    return static_cast<std::uint32_t>(std::clamp(budgetNs / row, 0.0, 1e9));
}

// Least squares for a + c * rows with a, c >= 0, newer steps counting more. Where the number of rows never varied, all
// of it is a.
void StepTimeModel::fitDecode() {
    const std::uint64_t count = std::min<std::uint64_t>(m_decodeSteps, kept);
    double weight = 1;
    double weights = 0;
    double rows = 0;
    double ns = 0;
    double rowsRows = 0;
    double rowsNs = 0;
    for (std::uint64_t age = 0; age < count; ++age) {
        const DecodeStep& step = m_decodes[(m_decodeSteps - 1 - age) % kept];
        weights += weight;
        rows += weight * step.rows;
        ns += weight * step.ns;
        rowsRows += weight * step.rows * step.rows;
        rowsNs += weight * step.rows * step.ns;
        weight *= olderShare;
    }
    const double meanRows = rows / weights;
    const double variance = rowsRows / weights - meanRows * meanRows;
    const double slope = variance > 1e-9 * rowsRows ? (rowsNs / weights - meanRows * ns / weights) / variance : 0;
    m_perDecodeRow = std::max(slope, 0.0);
    m_base = ns / weights - m_perDecodeRow * meanRows;
    if (m_base < 0) {
        m_base = 0;
        m_perDecodeRow = rowsNs / rowsRows;
    }
}

}  // namespace firsttoken::engine
