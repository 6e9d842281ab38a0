#include <algorithm>
#include <cmath>

#include "engine/statistics.h"

namespace firsttoken::engine {

namespace {

/// The values that the edges are taken from: the logarithmic scale has no place for 0 and less.
struct Range {
    double low = 0;
    double high = 0;
};

std::optional<Range> rangeOf(std::span<const double> values, Scale scale) {
    std::optional<Range> range;
    for (const double value : values) {
        if (scale == Scale::Logarithmic && value <= 0) continue;
        if (!range) range = Range{value, value};
        range->low = std::min(range->low, value);
        range->high = std::max(range->high, value);
    }
    return range;
}

double edgeAt(const Range& range, double part, Scale scale) {
    if (scale == Scale::Logarithmic) return range.low * std::pow(range.high / range.low, part);
    return range.low * (1 - part) + range.high * part;  // no overflow of the width
}

}  // namespace

Histogram histogram(std::span<const double> values, std::size_t bins, Scale scale) {
    Histogram result;
    if (values.empty() || bins == 0) return result;
    const Range range = rangeOf(values, scale).value_or(Range{});
    if (!(range.low < range.high)) bins = 1;
    for (std::size_t i = 0; i <= bins; ++i) {
        result.edges.push_back(edgeAt(range, static_cast<double>(i) / static_cast<double>(bins), scale));
    }
    if (bins == 1) result.edges = {range.low, range.high};
    result.edges.back() = range.high;
    result.counts.assign(bins, 0);
    for (const double value : values) {
        // By the edges themselves, so that a value at an edge is where the edges say.
        const auto above = std::upper_bound(result.edges.begin(), result.edges.end(), value);
        const auto bin = std::max<std::ptrdiff_t>(above - result.edges.begin(), 1) - 1;
        ++result.counts[std::min(static_cast<std::size_t>(bin), bins - 1)];
    }
    return result;
}

}  // namespace firsttoken::engine
