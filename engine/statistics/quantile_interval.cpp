#include <math.h>  // lgamma_r: std::lgamma writes a global

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/statistics.h"
#include "engine/statistics/quantile_ranks.h"

namespace firsttoken::engine {

namespace {

bool isOpenFraction(double value) { return value > 0 && value < 1; }

double logFactorial(double n) {
    int sign = 0;
    return lgamma_r(n + 1, &sign);
}

/// Binomial(count, q) probability of exactly `k`.
double binomialAt(double count, double q, double k) {
    return std::exp(logFactorial(count) - logFactorial(k) - logFactorial(count - k) + k * std::log(q) +
                    (count - k) * std::log1p(-q));
}

/// The largest rank j with P(B <= j - 1) <= tail for B ~ Binomial(count, q); 0 if even P(B = 0) exceeds it.
std::size_t lowerRank(std::size_t count, double q, double tail) {
    const auto n = static_cast<double>(count);
    const double spread = std::sqrt(n * q * (1 - q));
    // What lies more than 12 standard deviations (and some) below the mean weighs less than 1e-30.
    double k = std::max(0.0, std::floor(n * q - 12 * spread - 20));
    double probability = binomialAt(n, q, k);
    double sum = 0;
    while (k <= n) {
        sum += probability;
        if (sum > tail) break;
        probability *= (n - k) / (k + 1) * (q / (1 - q));
        ++k;
    }
    return static_cast<std::size_t>(std::min(k, n));
}

}  // namespace

std::optional<std::size_t> valuesForInterval(double quantile, double confidence) {
    if (!isOpenFraction(quantile) || !isOpenFraction(confidence)) return std::nullopt;
    // Both extremes as ends: q^n and (1 - q)^n must be at most the tail.
    const double tail = (1 - confidence) / 2;
    const double needed = std::ceil(std::log(tail) / std::log(std::max(quantile, 1 - quantile)));
    if (!(needed < 1e15)) return std::nullopt;
    return static_cast<std::size_t>(std::max(needed, 2.0));
}

std::optional<RankInterval> quantileRanks(std::size_t count, double quantile, double confidence) {
    if (count == 0 || !isOpenFraction(quantile) || !isOpenFraction(confidence)) return std::nullopt;
    const double tail = (1 - confidence) / 2;
    // The interval's ends fail when too few values (fewer than lowRank) or too many (highRank or more) lie below the
    // quantile. The upper end is the lower one of the mirrored sample.
    const std::size_t lowRank = lowerRank(count, quantile, tail);
    const std::size_t mirrored = lowerRank(count, 1 - quantile, tail);
    if (lowRank == 0 || mirrored == 0) return std::nullopt;
    const std::size_t highRank = count + 1 - mirrored;
    if (lowRank >= highRank) return std::nullopt;
    return RankInterval{lowRank, highRank};
}

std::optional<QuantileInterval> quantileInterval(std::span<const double> values, double quantile, double confidence) {
    const auto ranks = quantileRanks(values.size(), quantile, confidence);
    if (!ranks) return std::nullopt;
    std::vector<double> copy(values.begin(), values.end());
    const auto low = copy.begin() + static_cast<std::ptrdiff_t>(ranks->low - 1);
    std::nth_element(copy.begin(), low, copy.end());
    const auto high = copy.begin() + static_cast<std::ptrdiff_t>(ranks->high - 1);
    std::nth_element(low + 1, high, copy.end());
    return QuantileInterval{*low, *high, ranks->low, ranks->high};
}

}  // namespace firsttoken::engine
