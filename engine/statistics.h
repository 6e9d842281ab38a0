#pragma once

#include <optional>
#include <span>

/// The one home of mean, percentile, interval and comparison. Pure functions over raw values: any thread.
namespace firsttoken::engine {

/// Arithmetic mean; empty for no values.
std::optional<double> mean(std::span<const double> values);
/// Linear interpolation between order statistics (numpy's default); quantile in 0 … 1. Empty for no values.
std::optional<double> percentile(std::span<const double> values, double quantile);
inline std::optional<double> median(std::span<const double> values) { return percentile(values, 0.5); }

}  // namespace firsttoken::engine
