#include <algorithm>
#include <cmath>

#include "engine/statistics.h"

namespace firsttoken::engine {

namespace {

/// More values than that are counted in bins of equal numbers: then a resample costs the same for any sample.
constexpr std::size_t mostBins = 8192;

/// Counts how often each block is drawn. SplitMix64, so that the draws are the same everywhere.
class Draws {
public:
    Draws(std::size_t blocks, std::uint64_t seed) : m_weights(blocks), m_state(seed) {}

    const std::vector<double>& next() {
        std::fill(m_weights.begin(), m_weights.end(), 0.0);
        for (std::size_t i = 0; i < m_weights.size(); ++i) ++m_weights[block()];
        return m_weights;
    }

private:
    std::size_t block() {
        m_state += 0x9E3779B97F4A7C15U;
        std::uint64_t bits = m_state;
        bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
        bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
        bits ^= bits >> 31U;
        const double part = static_cast<double>(bits >> 11U) * 0x1p-53;
        return static_cast<std::size_t>(part * static_cast<double>(m_weights.size()));
    }

    std::vector<double> m_weights;
    std::uint64_t m_state;
};

/// The sample, sorted into bins, with the number of each block's values up to each bin's end.
struct Bins {
    std::vector<double> lows, highs;  ///< least and greatest value of a bin
    std::vector<double> below;        ///< [bin][block]: values of the block in this bin and all before
    std::size_t blocks = 0;

    double countBelow(std::size_t bin, const std::vector<double>& weights) const {
        double count = 0;
        const double* row = below.data() + bin * blocks;
        for (std::size_t block = 0; block < blocks; ++block) count += weights[block] * row[block];
        return count;
    }
};

Bins binsOf(const BlockedValues& blocked) {
    std::vector<std::pair<double, std::size_t>> sorted;
    sorted.reserve(blocked.values.size());
    std::size_t block = 0;
    for (std::size_t i = 0; i < blocked.values.size(); ++i) {
        while (block < blocked.blockEnds.size() && i >= blocked.blockEnds[block]) ++block;
        if (block == blocked.blockEnds.size()) break;
        sorted.emplace_back(blocked.values[i], block);
    }
    std::sort(sorted.begin(), sorted.end());
    Bins bins;
    bins.blocks = blocked.blockEnds.size();
    const std::size_t count = std::min(sorted.size(), mostBins);
    std::vector<double> row(bins.blocks, 0.0);
    std::size_t next = 0;
    for (std::size_t bin = 0; bin < count; ++bin) {
        const std::size_t end = sorted.size() * (bin + 1) / count;
        bins.lows.push_back(sorted[next].first);
        bins.highs.push_back(sorted[end - 1].first);
        for (; next < end; ++next) ++row[sorted[next].second];
        bins.below.insert(bins.below.end(), row.begin(), row.end());
    }
    return bins;
}

/// The value at `position` (from 0) among the drawn values in ascending order.
double valueAt(const Bins& bins, const std::vector<double>& weights, double position) {
    std::size_t low = 0;
    std::size_t high = bins.lows.size() - 1;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (bins.countBelow(middle, weights) > position)
            high = middle;
        else
            low = middle + 1;
    }
    const double before = low == 0 ? 0 : bins.countBelow(low - 1, weights);
    const double within = bins.countBelow(low, weights) - before;
    const double part = within > 0 ? std::clamp((position - before) / within, 0.0, 1.0) : 0;
    return bins.lows[low] + (bins.highs[low] - bins.lows[low]) * part;
}

}  // namespace

std::vector<std::vector<double>> bootstrapQuantiles(const BlockedValues& blocked, std::span<const double> quantiles,
                                                    std::size_t resamples, std::uint64_t seed) {
    const Bins bins = binsOf(blocked);
    if (bins.blocks < 2 || bins.lows.empty()) return {};
    std::vector<std::vector<double>> result(quantiles.size());
    Draws draws(bins.blocks, seed);
    for (std::size_t i = 0; i < resamples; ++i) {
        const std::vector<double>& weights = draws.next();
        const double count = bins.countBelow(bins.lows.size() - 1, weights);
        if (count < 1) continue;  // only blocks without values were drawn
        for (std::size_t q = 0; q < quantiles.size(); ++q) {
            result[q].push_back(valueAt(bins, weights, std::floor(quantiles[q] * (count - 1) + 0.5)));
        }
    }
    return result;
}

std::vector<double> bootstrapRatios(std::span<const double> numerators, std::span<const double> denominators,
                                    std::size_t resamples, std::uint64_t seed) {
    const std::size_t blocks = std::min(numerators.size(), denominators.size());
    std::vector<double> result;
    if (blocks < 2) return result;
    Draws draws(blocks, seed);
    for (std::size_t i = 0; i < resamples; ++i) {
        const std::vector<double>& weights = draws.next();
        double numerator = 0;
        double denominator = 0;
        for (std::size_t block = 0; block < blocks; ++block) {
            numerator += weights[block] * numerators[block];
            denominator += weights[block] * denominators[block];
        }
        if (denominator != 0) result.push_back(numerator / denominator);
    }
    return result;
}

std::optional<Interval> bootstrapDifference(std::span<const double> a, std::span<const double> b, double confidence) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i] == 0) return std::nullopt;
        differences.push_back((b[i] - a[i]) / std::abs(a[i]));
    }
    const auto low = percentile(differences, (1 - confidence) / 2);
    const auto high = percentile(differences, (1 + confidence) / 2);
    if (!low || !high) return std::nullopt;
    return Interval{*low, *high};
}

}  // namespace firsttoken::engine
