#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

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

/// A quantile with its interval; each is empty where the values do not give one.
struct QuantileEstimate {
    std::optional<double> value;
    std::optional<QuantileInterval> interval;
    bool operator==(const QuantileEstimate&) const = default;
};
/// percentile() and quantileInterval() for several quantiles of one large sample, without sorting all of it.
std::vector<QuantileEstimate> quantileEstimates(std::vector<double> values, std::span<const double> quantiles,
                                                double confidence = 0.95);

/// Values by size: counts[i] lie in edges[i] <= value < edges[i + 1]; the last bin has its upper edge too.
struct Histogram {
    std::vector<double> edges;  ///< one more than counts; ascending
    std::vector<std::int64_t> counts;
    bool operator==(const Histogram&) const = default;
};
enum class Scale { Linear, Logarithmic };
/// `bins` equal steps from the least to the greatest value; by ratio for Logarithmic, where values of 0 and less fall
/// into the first bin. One bin for equal values; none for no values.
Histogram histogram(std::span<const double> values, std::size_t bins, Scale scale = Scale::Linear);

/// Student's t distribution: P(T <= t), and the t with that probability. Any degrees of freedom above 0.
double studentT(double t, double freedom);
double studentTQuantile(double probability, double freedom);

/// P-values of several tests, adjusted by Benjamini and Hochberg's step-up procedure, in the given order. Where those
/// at most `level` are claimed, at most that part of the claims is by chance on average; and where nothing differs,
/// some claim is made in at most that part of the cases. For tests that depend on each other positively, if at all, as
/// the percentiles of one run do: there Holm's correction, which allows no false claim beside true ones, misses most of
/// what five runs can show.
std::vector<double> benjaminiHochberg(std::span<const double> pValues);

/// A range of plausible values.
struct Interval {
    double low = 0;
    double high = 0;
    bool operator==(const Interval&) const = default;
};

/// A metric's value in one run. Runs that share a block (a seed) are alike apart from what is compared.
struct RunValue {
    double value = 0;
    std::uint64_t block = 0;
    bool operator==(const RunValue&) const = default;
};

/// Two arms of runs, from their run-level values.
struct RunComparison {
    std::size_t runsA = 0, runsB = 0;
    std::size_t blocks = 0;            ///< different ones
    bool logarithmic = false;          ///< means are geometric and the test is of the logarithms: all values positive
    std::optional<double> a, b;        ///< mean of the arm; empty without runs
    std::optional<double> difference;  ///< b/a - 1; empty where a is 0
    std::optional<Interval> interval;  ///< of the difference; empty where the runs show no spread to take it from
    std::optional<double> pValue;      ///< two-sided, of no difference; empty as the interval
    std::optional<double> spread;      ///< standard deviation of a run: of its logarithm, or as a part of |a|
    double freedom = 0;                ///< degrees of freedom of the spread
    bool operator==(const RunComparison&) const = default;
};
/// Student's t (Welch's where all runs are of one block); else blocks are taken out of the spread, and must have the
/// same share of the runs in both arms. Needs two runs an arm; three where no value differs within an arm.
RunComparison compareRuns(std::span<const RunValue> a, std::span<const RunValue> b, double confidence = 0.95);

/// Runs an arm (all of them, at least two) for which a difference of `margin` (0.03: 3 %) is found with the given power
/// in a two-sided test of that level. Empty where the spread is unknown, or more than a million would be needed.
std::optional<std::int64_t> runsForMargin(const RunComparison& comparison, double margin, double level = 0.05,
                                          double power = 0.8);

enum class Verdict { Better, Worse, Equivalent, Undecided, Refused };
enum class Direction { LowerIsBetter, HigherIsBetter, Neutral };
/// better, worse, equivalent, undecided, refused.
std::string_view toString(Verdict verdict);
/// lower, higher, neutral.
std::string_view toString(Direction direction);

/// Equivalent: the interval lies within the margin. Else better or worse where the (adjusted) p-value is at most
/// `level`. Else, and always for a neutral metric that is not equivalent, undecided. Never refused.
Verdict judge(const RunComparison& comparison, std::optional<double> adjustedP, Direction direction, double margin,
              double level = 0.05);

/// One run cut into blocks of neighbouring requests: resampling whole blocks keeps what neighbours share.
struct BlockedValues {
    std::vector<double> values;
    std::vector<std::size_t> blockEnds;  ///< ascending; block i ends before values[blockEnds[i]]
};
/// Of each resample of the blocks (with replacement, as many as there are): the quantiles. [quantile][resample]; empty
/// for fewer than two blocks or no values. The same seed gives the same resamples.
std::vector<std::vector<double>> bootstrapQuantiles(const BlockedValues& blocked, std::span<const double> quantiles,
                                                    std::size_t resamples, std::uint64_t seed);
/// The same for a sum of numerators over a sum of denominators, one of each a block: rates and fractions.
std::vector<double> bootstrapRatios(std::span<const double> numerators, std::span<const double> denominators,
                                    std::size_t resamples, std::uint64_t seed);
/// The equal-tailed interval of b/a - 1 over independent resamples; empty where some a is 0 or there are none.
std::optional<Interval> bootstrapDifference(std::span<const double> a, std::span<const double> b,
                                            double confidence = 0.95);

}  // namespace firsttoken::engine
