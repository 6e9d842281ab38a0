#pragma once

#include <cstddef>
#include <optional>
#include <span>

/// The one home of mean, percentile, interval and comparison. Pure functions over raw, finite values: any thread.
namespace firsttoken::engine {

/// Arithmetic mean, summed with compensation; empty for no values.
std::optional<double> mean(std::span<const double> values);
/// Linear interpolation between order statistics (numpy's default); quantile in 0 … 1. Empty for no values.
std::optional<double> percentile(std::span<const double> values, double quantile);
/// The same of values that ascend: no copy, for several quantiles of one sample.
std::optional<double> percentileOfSorted(std::span<const double> ascending, double quantile);
inline std::optional<double> median(std::span<const double> values) { return percentile(values, 0.5); }

/// A distribution-free interval for a quantile, between two order statistics.
struct QuantileInterval {
    double low = 0;
    double high = 0;
    std::size_t lowRank = 0;  ///< from 1, among the ascending values
    std::size_t highRank = 0;
    bool operator==(const QuantileInterval&) const = default;
};
/// The narrowest equal-tailed interval that holds the quantile with at least `confidence`, from the exact binomial
/// distribution of the number of values below it; for independent values. Empty where the sample is too small for
/// one ("not enough data"): p95 needs 72 values at 0.95, p99 needs 368.
std::optional<QuantileInterval> quantileInterval(std::span<const double> values, double quantile,
                                                 double confidence = 0.95);
/// The fewest values for which quantileInterval() exists; empty for a quantile or confidence outside 0 … 1.
std::optional<std::size_t> valuesForInterval(double quantile, double confidence = 0.95);

}  // namespace firsttoken::engine
