#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/statistics.h"

namespace firsttoken::engine {

namespace {

/// Where a quantile lies between two order statistics: index `below` (from 0) and the part of the way to the next.
struct Place {
    std::size_t below = 0;
    double part = 0;
};

std::optional<Place> placeOf(std::size_t count, double quantile) {
    if (count == 0 || !(quantile >= 0 && quantile <= 1)) return std::nullopt;
    const double position = quantile * static_cast<double>(count - 1);
    const double below = std::floor(position);
    return Place{static_cast<std::size_t>(below), position - below};
}

/// From the nearer end, so that equal ends give exactly their value and the result never leaves them.
double between(double low, double high, double part) {
    const double width = high - low;
    return part < 0.5 ? low + width * part : high - width * (1 - part);
}

}  // namespace

std::optional<double> mean(std::span<const double> values) {
    if (values.empty()) return std::nullopt;
    double sum = 0;
    double lost = 0;  // Neumaier's compensation
    for (const double value : values) {
        const double next = sum + value;
        lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
        sum = next;
    }
    return (sum + lost) / static_cast<double>(values.size());
}

std::optional<double> percentile(std::span<const double> values, double quantile) {
    const auto place = placeOf(values.size(), quantile);
    if (!place) return std::nullopt;
    std::vector<double> copy(values.begin(), values.end());
    const auto at = copy.begin() + static_cast<std::ptrdiff_t>(place->below);
    std::nth_element(copy.begin(), at, copy.end());
    if (place->part == 0 || at + 1 == copy.end()) return *at;
    return between(*at, *std::min_element(at + 1, copy.end()), place->part);
}

std::optional<double> percentileOfSorted(std::span<const double> ascending, double quantile) {
    const auto place = placeOf(ascending.size(), quantile);
    if (!place) return std::nullopt;
    const double low = ascending[place->below];
    if (place->part == 0 || place->below + 1 == ascending.size()) return low;
    return between(low, ascending[place->below + 1], place->part);
}

}  // namespace firsttoken::engine
