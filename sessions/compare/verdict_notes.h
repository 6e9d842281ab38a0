#pragma once

#include <optional>
#include <string>

#include "sessions/compare/comparison.h"

/// The sentences of a comparison, for people.
namespace firsttoken::sessions {

/// +12.3 %
std::string percentText(double fraction);
/// Sets runsNeeded and note of an undecided metric that has values in several runs of both arms. `level`: what
/// a p-value of this metric is held against; `family`: metrics that were tested together.
void explainUndecided(MetricComparison& metric, const engine::RunComparison& runs, double margin, double level,
                      std::size_t family);
/// The same where an arm has one run with a value of it, or none.
void explainSingleRuns(MetricComparison& metric, const engine::RunComparison& runs, double margin);
std::string summaryOf(const Comparison& comparison);

}  // namespace firsttoken::sessions
