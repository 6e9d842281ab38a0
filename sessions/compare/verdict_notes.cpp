#include "sessions/compare/verdict_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace firsttoken::sessions {

namespace {

/// With fewer, the spread between runs is hardly known.
constexpr std::int64_t usualRuns = 5;

std::string moreRuns(std::int64_t count) {
    return count == 1 ? "1 more run an arm" : fmt::format("{} more runs an arm", count);
}

std::int64_t fewerRuns(const engine::RunComparison& runs) {
    return static_cast<std::int64_t>(std::min(runs.runsA, runs.runsB));
}

/// The difference that was seen, where it is larger than the margin: fewer runs would settle that.
std::string seenText(const MetricComparison& metric, const engine::RunComparison& runs, double margin, double level,
                     std::int64_t needed) {
    if (!metric.difference || std::abs(*metric.difference) <= margin) return {};
    const auto forSeen = engine::runsForMargin(runs, std::abs(*metric.difference), level);
    if (!forSeen) return {};
    const std::int64_t more = std::max<std::int64_t>(*forSeen - fewerRuns(runs), 1);
    if (more >= needed) return {};
    return fmt::format("; for one as large as the {} seen, {}", percentText(*metric.difference), more);
}

/// The spread between runs is not known, but it is not less than what the blocks within one show.
std::int64_t runsBySpreadWithin(const MetricComparison& metric, double margin) {
    if (!metric.interval || metric.interval->low <= -1) return usualRuns;
    engine::RunComparison within;
    within.runsA = within.runsB = within.blocks = 1;
    within.logarithmic = true;
    const double width = std::log1p(metric.interval->high) - std::log1p(metric.interval->low);
    within.spread = width / (2 * 1.96 * std::sqrt(2.0));
    return std::max(usualRuns, engine::runsForMargin(within, margin).value_or(usualRuns));
}

}  // namespace

std::string percentText(double fraction) { return fmt::format("{:+.1f} %", fraction * 100); }

void explainUndecided(MetricComparison& metric, const engine::RunComparison& runs, double margin, double level,
                      std::size_t family) {
    const std::int64_t done = fewerRuns(runs);
    if (metric.direction == engine::Direction::Neutral && metric.pValue && *metric.pValue <= level) {
        metric.runsNeeded = 0;
        metric.note = "it differs, but neither way is better by itself: more runs would not help";
        return;
    }
    const auto needed = engine::runsForMargin(runs, margin, level);
    if (needed) {
        metric.runsNeeded = std::max<std::int64_t>(*needed - done, 1);
        metric.note =
            fmt::format("{} would find a difference of {:.3g} % in 80 % of cases{}", moreRuns(*metric.runsNeeded),
                        margin * 100, seenText(metric, runs, margin, level, *metric.runsNeeded));
    } else if (runs.spread) {
        metric.note =
            fmt::format("the runs differ so much that a million would not find a difference of {:.3g} %", margin * 100);
    } else {
        metric.runsNeeded = std::max<std::int64_t>(usualRuns - done, 1);
        metric.note =
            fmt::format("{} at least: the spread between runs is not known yet", moreRuns(*metric.runsNeeded));
    }
    const bool aloneSure = metric.interval && (metric.interval->low > 0 || metric.interval->high < 0);
    if (aloneSure && family > 1) {
        metric.note +=
            fmt::format("; by itself it would be a difference, but one of {} may well look so by chance", family);
    }
}

void explainSingleRuns(MetricComparison& metric, const engine::RunComparison& runs, double margin) {
    const std::int64_t done = fewerRuns(runs);
    if (done == 0) {
        metric.runsNeeded = usualRuns;
        const char* where = runs.runsA > 0 ? "in arm B" : runs.runsB > 0 ? "in arm A" : "in either arm";
        metric.note = fmt::format("not measured {}: {} runs an arm that have it are needed", where, usualRuns);
        return;
    }
    metric.runsNeeded = runsBySpreadWithin(metric, margin) - done;
    metric.note = fmt::format("one run shows no spread between runs: {} at least{}", moreRuns(*metric.runsNeeded),
                              metric.interval ? "; the interval is from blocks within the run" : "");
}

std::string summaryOf(const Comparison& comparison) {
    if (comparison.verdict == Verdict::Refused) {
        return fmt::format("refused: {}", fmt::join(comparison.unlikeReasons, "; "));
    }
    const auto found = std::find_if(comparison.metrics.begin(), comparison.metrics.end(),
                                    [&](const MetricComparison& metric) { return metric.name == comparison.primary; });
    std::string text = fmt::format("{} by {}", toString(comparison.verdict), comparison.primary);
    if (found != comparison.metrics.end()) {
        if (found->difference) text += fmt::format(": {}", percentText(*found->difference));
        if (found->interval) {
            text += fmt::format(" ({} to {})", percentText(found->interval->low), percentText(found->interval->high));
        }
        if (comparison.verdict == Verdict::Undecided) text += "; " + found->note;
    }
    if (!comparison.alsoWorse.empty()) text += fmt::format("; worse: {}", fmt::join(comparison.alsoWorse, ", "));
    if (!comparison.alsoBetter.empty()) text += fmt::format("; better: {}", fmt::join(comparison.alsoBetter, ", "));
    return text;
}

}  // namespace firsttoken::sessions
