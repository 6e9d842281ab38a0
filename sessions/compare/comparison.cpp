#include "sessions/compare/comparison.h"

#include <algorithm>
#include <set>

#include "sessions/compare/compared_metrics.h"
#include "sessions/compare/likeness.h"
#include "sessions/compare/profile_difference.h"
#include "sessions/compare/verdict_notes.h"
#include "sessions/compare/within_run.h"
#include "sessions/metrics/session_metrics.h"

namespace firsttoken::sessions {

namespace {

constexpr double level = 0.05;
constexpr std::uint64_t resampleSeed = 0x46697273742E;  ///< any: the same runs give the same intervals

struct Arm {
    std::vector<const SessionData*> sessions;
    std::vector<SessionMetrics> metrics;  ///< of each
};

Arm armOf(std::span<const SessionData> sessions) {
    Arm arm;
    std::set<SessionId> seen;
    for (const SessionData& session : sessions) {
        // Named twice it is still one run; without an id nobody can tell.
        if (session.header.id == 0 || seen.insert(session.header.id).second) arm.sessions.push_back(&session);
    }
    return arm;
}

ArmFacts factsOf(const Arm& arm) {
    ArmFacts facts;
    facts.runs = static_cast<std::int64_t>(arm.sessions.size());
    for (const SessionData* session : arm.sessions) facts.sessions.push_back(session->header.id);
    for (const SessionMetrics& metrics : arm.metrics) {
        facts.requests += metrics.counts.requests;
        facts.completed += metrics.counts.completed;
        facts.failed += metrics.counts.failed;
        facts.cancelled += metrics.counts.cancelled;
        facts.hungUp += metrics.counts.hungUp;
    }
    return facts;
}

std::vector<engine::RunValue> valuesOf(const Arm& arm, const ComparedMetric& metric) {
    std::vector<engine::RunValue> values;
    for (std::size_t i = 0; i < arm.sessions.size(); ++i) {
        const auto value = valueOf(arm.metrics[i], metric);
        if (value) values.push_back({*value, arm.sessions[i]->header.seed.value_or(0)});
    }
    return values;
}

/// Resamples of the only run of each arm; empty where an arm has several.
struct SingleRuns {
    std::vector<std::vector<double>> a, b;

    SingleRuns(const Arm& armA, const Arm& armB, const Yardstick& yardstick) {
        if (armA.sessions.size() != 1 || armB.sessions.size() != 1) return;
        a = resamplesOf(*armA.sessions.front(), yardstick, resampleSeed);
        b = resamplesOf(*armB.sessions.front(), yardstick, resampleSeed + 1);
    }
    std::optional<engine::Interval> interval(std::size_t metric) const {
        if (a.empty() || b.empty()) return std::nullopt;
        return engine::bootstrapDifference(a[metric], b[metric]);
    }

private:
    static std::vector<std::vector<double>> resamplesOf(const SessionData& session, Yardstick yardstick,
                                                        std::uint64_t seed) {
        yardstick.streaming = yardstickOf(session.header.effectiveProfile).streaming;
        return withinRunResamples(session, yardstick, seed);
    }
};

/// Differences of one metric between the arms, before any verdict.
struct Compared {
    MetricComparison metric;
    engine::RunComparison runs;
};

Compared comparedBy(const ComparedMetric& kind, const Arm& a, const Arm& b) {
    Compared compared;
    compared.runs = engine::compareRuns(valuesOf(a, kind), valuesOf(b, kind));
    MetricComparison& metric = compared.metric;
    metric.name = kind.name;
    metric.direction = kind.direction;
    metric.a = compared.runs.a;
    metric.b = compared.runs.b;
    metric.difference = compared.runs.difference;
    return compared;
}

/// Tested together: what has noise, a good side, and is not the primary metric. Where no run differs from its
/// neighbours in the arm there is nothing that chance could do.
bool inFamily(const Compared& compared, const std::string& primary) {
    return compared.runs.pValue && *compared.runs.pValue > 0 && compared.runs.spread.value_or(1) > 1e-12 &&
           compared.metric.direction != engine::Direction::Neutral && compared.metric.name != primary;
}

/// Metrics that were tested together, and how many of them were found to differ.
struct Family {
    std::size_t tested = 0;
    std::size_t found = 0;

    /// What the p-value of one more is held against.
    double levelOfNext() const { return level * static_cast<double>(found + 1) / static_cast<double>(tested); }
};

/// Sets the p-values.
Family correct(std::vector<Compared>& all, const std::string& primary) {
    std::vector<double> pValues;
    for (const Compared& compared : all) {
        if (inFamily(compared, primary)) pValues.push_back(*compared.runs.pValue);
    }
    const std::vector<double> adjusted = engine::benjaminiHochberg(pValues);
    std::size_t next = 0;
    for (Compared& compared : all) {
        compared.metric.pValue = inFamily(compared, primary) ? std::optional(adjusted[next++]) : compared.runs.pValue;
    }
    const auto found = std::count_if(adjusted.begin(), adjusted.end(), [](double p) { return p <= level; });
    return {pValues.size(), static_cast<std::size_t>(found)};
}

void decide(std::vector<Compared>& all, const std::string& primary, const SingleRuns& singleRuns, double margin) {
    const Family family = correct(all, primary);
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto& [metric, runs] = all[i];
        if (std::min(runs.runsA, runs.runsB) < 2) {
            metric.interval = singleRuns.interval(i);
            if (metric.interval) metric.intervalKind = IntervalKind::WithinRun;
            explainSingleRuns(metric, runs, margin);
            continue;
        }
        metric.interval = runs.interval;
        if (metric.interval) metric.intervalKind = IntervalKind::BetweenRuns;
        metric.verdict = engine::judge(runs, metric.pValue, metric.direction, margin, level);
        if (metric.verdict != Verdict::Undecided) continue;
        const bool together = inFamily(all[i], primary);
        explainUndecided(metric, runs, margin, together ? family.levelOfNext() : level, together ? family.tested : 1);
    }
}

/// The metric that the target names; where no run of an arm has it, the next best that both have.
std::string primaryOf(const std::vector<Compared>& all, const std::optional<engine::Profile::Slo>& slo) {
    const std::string wanted = primaryMetric(slo);
    for (const std::string& name : {wanted, std::string("ttft_p95"), std::string("e2e_p95"),
                                    std::string("output_tokens_per_s"), std::string("goodput_fraction")}) {
        for (const Compared& compared : all) {
            if (compared.metric.name == name && compared.metric.a && compared.metric.b) return name;
        }
    }
    return wanted;
}

void conclude(Comparison& comparison) {
    for (const MetricComparison& metric : comparison.metrics) {
        if (metric.name == comparison.primary)
            comparison.verdict = metric.verdict;
        else if (metric.verdict == Verdict::Worse)
            comparison.alsoWorse.push_back(metric.name);
        else if (metric.verdict == Verdict::Better)
            comparison.alsoBetter.push_back(metric.name);
    }
    comparison.summary = summaryOf(comparison);
}

}  // namespace

std::string_view toString(IntervalKind kind) {
    switch (kind) {
        case IntervalKind::None:
            return "none";
        case IntervalKind::BetweenRuns:
            return "between_runs";
        case IntervalKind::WithinRun:
            return "within_run_blocks";
    }
    return "none";
}

Comparison compare(std::span<const SessionData> a, std::span<const SessionData> b, const CompareOptions& options) {
    Arm armA = armOf(a);
    Arm armB = armOf(b);
    Comparison comparison;
    comparison.margin = options.margin;
    for (Unlikeness& unlike : unlikenesses(armA.sessions, armB.sessions)) {
        comparison.unlike.push_back(std::move(unlike.field));
        comparison.unlikeReasons.push_back(std::move(unlike.reason));
    }
    const Arm& judging = armA.sessions.empty() ? armB : armA;
    Yardstick yardstick;
    if (!judging.sessions.empty()) yardstick = yardstickOf(judging.sessions.front()->header.effectiveProfile);
    for (Arm* arm : {&armA, &armB}) {
        for (const SessionData* session : arm->sessions) arm->metrics.push_back(summarise(*session, yardstick));
    }
    comparison.armA = factsOf(armA);
    comparison.armB = factsOf(armB);
    if (!armA.sessions.empty() && !armB.sessions.empty()) {
        comparison.profileDiff = profileDifferences(armA.sessions.front()->header, armB.sessions.front()->header);
    }
    std::vector<Compared> all;
    for (const ComparedMetric& kind : comparedMetrics()) all.push_back(comparedBy(kind, armA, armB));
    comparison.primary = primaryOf(all, yardstick.slo);
    const bool refused = !comparison.unlike.empty();
    if (!refused) decide(all, comparison.primary, SingleRuns(armA, armB, yardstick), options.margin);
    for (Compared& compared : all) {
        if (refused) compared.metric.verdict = Verdict::Refused;
        comparison.metrics.push_back(std::move(compared.metric));
    }
    conclude(comparison);
    return comparison;
}

}  // namespace firsttoken::sessions
