#include <algorithm>
#include <cmath>

#include "engine/statistics.h"
#include "engine/statistics/quantile_ranks.h"

namespace firsttoken::engine {

namespace {

/// Puts the values that belong at the wanted (ascending) indices there, within [first, last).
void select(std::vector<double>& values, std::size_t first, std::size_t last, std::span<const std::size_t> wanted) {
    if (wanted.empty()) return;
    const auto at = [&values](std::size_t index) { return values.begin() + static_cast<std::ptrdiff_t>(index); };
    const std::size_t middle = wanted.size() / 2;
    std::nth_element(at(first), at(wanted[middle]), at(last));
    select(values, first, wanted[middle], wanted.first(middle));
    select(values, wanted[middle] + 1, last, wanted.subspan(middle + 1));
}

}  // namespace

std::vector<QuantileEstimate> quantileEstimates(std::vector<double> values, std::span<const double> quantiles,
                                                double confidence) {
    const std::size_t count = values.size();
    std::vector<std::optional<RankInterval>> ranks;
    std::vector<std::size_t> wanted;
    for (const double quantile : quantiles) {
        ranks.push_back(quantileRanks(count, quantile, confidence));
        if (ranks.back()) wanted.insert(wanted.end(), {ranks.back()->low - 1, ranks.back()->high - 1});
        if (count == 0 || !(quantile >= 0 && quantile <= 1)) continue;
        const auto below = static_cast<std::size_t>(std::floor(quantile * static_cast<double>(count - 1)));
        wanted.insert(wanted.end(), {below, std::min(below + 1, count - 1)});
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    select(values, 0, count, wanted);
    std::vector<QuantileEstimate> estimates;
    for (std::size_t i = 0; i < quantiles.size(); ++i) {
        QuantileEstimate estimate;
        // It reads no other values than those that are in place now.
        estimate.value = percentileOfSorted(values, quantiles[i]);
        if (ranks[i]) {
            estimate.interval =
                QuantileInterval{values[ranks[i]->low - 1], values[ranks[i]->high - 1], ranks[i]->low, ranks[i]->high};
        }
        estimates.push_back(estimate);
    }
    return estimates;
}

}  // namespace firsttoken::engine
