#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/statistics.h"
#include "sessions/session_records.h"

/// Did one change help? Two arms of runs (load sessions) of the same work, compared run by run. Pure functions.
///
/// The unit is the run: requests of one run share a queue, so their number proves nothing. Each metric has one value a
/// run; the arms are compared by engine::compareRuns (ratio of the geometric means, Student's t on the logarithms;
/// where the seeds differ, runs with the same seed form a block). The primary metric (the first target of arm A's SLO,
/// else ttft_p95) is tested at 5 % and gives the verdict of the whole; all others are tested together at 5 %
/// (engine::benjaminiHochberg). An interval is always that of the metric by itself, at 95 %.
namespace firsttoken::sessions {

using engine::Verdict;

enum class IntervalKind {
    None,
    BetweenRuns,  ///< from the spread of the runs
    WithinRun,    ///< one run an arm: from blocks of its requests; blind to what differs from run to run
};
/// none, between_runs, within_run_blocks.
std::string_view toString(IntervalKind kind);

struct MetricComparison {
    std::string name;            ///< ttft_p95, output_tokens_per_s …
    std::optional<double> a, b;  ///< of the arm: geometric mean of its runs (mean, where one of them is not positive)
    std::optional<double> difference;          ///< b/a − 1; empty where a is 0 or unknown
    std::optional<engine::Interval> interval;  ///< of the difference, 95 %
    IntervalKind intervalKind = IntervalKind::None;
    engine::Direction direction = engine::Direction::LowerIsBetter;
    Verdict verdict = Verdict::Undecided;
    std::optional<double> pValue;  ///< of no difference, adjusted for those tested together
    /// For Undecided: further runs an arm until a difference as large as the margin would be found in 80 % of cases;
    /// empty where nobody can say, then `note` says why. 0: more runs would not help.
    std::optional<std::int64_t> runsNeeded;
    std::string note;  ///< one sentence: why undecided, what a verdict rests on; may be empty
    bool operator==(const MetricComparison&) const = default;
};

struct ProfileDifference {
    std::string key;   ///< dotted
    std::string a, b;  ///< effective values as JSON; empty: the key is not there
    std::string requestedA, requestedB;
    bool operator==(const ProfileDifference&) const = default;
};

struct ArmFacts {
    std::int64_t runs = 0;
    std::vector<SessionId> sessions;
    std::int64_t requests = 0, completed = 0, failed = 0, cancelled = 0, hungUp = 0;
    bool operator==(const ArmFacts&) const = default;
};

struct Comparison {
    double margin = 0.03;
    Verdict verdict = Verdict::Undecided;  ///< of the primary metric; Refused where `unlike` is not empty
    std::string primary;                   ///< name of the metric that gives it
    std::vector<std::string> alsoWorse;    ///< other metrics with the verdict Worse, whatever `verdict` says
    std::vector<std::string> alsoBetter;
    /// What differs and must not: session (an empty arm), state (not run to its end), workload, seed, model, machine,
    /// driver, build, isa, arithmetic, profile (within an arm). Empty: the arms may be compared. Limits and prices of a
    /// profile never make runs unlike: goodput is judged by arm A's limits in both arms.
    std::vector<std::string> unlike;
    std::vector<std::string> unlikeReasons;  ///< one sentence each
    std::string summary;                     ///< one sentence: the verdict and what it rests on
    ArmFacts armA, armB;
    std::vector<ProfileDifference> profileDiff;
    std::vector<MetricComparison> metrics;  ///< always all of them, in one order
    bool operator==(const Comparison&) const = default;
};

struct CompareOptions {
    double margin = 0.03;  ///< differences within it do not matter; 0 < margin < 1
};

/// A session that an arm names twice counts once. Unlike runs are no error: every verdict is Refused, the values are
/// there. An empty arm is unlike too ("session").
Comparison compare(std::span<const SessionData> a, std::span<const SessionData> b, const CompareOptions& options = {});

/// One JSON object with the names of the programs' contract.
std::string toJson(const Comparison& comparison, int indent = -1);

}  // namespace firsttoken::sessions
