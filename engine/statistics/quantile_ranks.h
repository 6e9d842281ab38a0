#pragma once

#include <cstddef>
#include <optional>

namespace firsttoken::engine {

/// From 1, among the ascending values.
struct RankInterval {
    std::size_t low = 0;
    std::size_t high = 0;
};
/// What quantileInterval() takes; empty where the sample is too small.
std::optional<RankInterval> quantileRanks(std::size_t count, double quantile, double confidence);

}  // namespace firsttoken::engine
