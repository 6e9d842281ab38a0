#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/profile.h"
#include "engine/statistics.h"
#include "sessions/session_records.h"

/// A session's figures, from its raw rows only. What is unknown is empty, never 0. Pure functions: any thread.
namespace firsttoken::sessions {

enum class LatencyMetric { Ttft, Itl, Tpot, E2e, Queue };
/// ttft, itl, tpot, e2e, queue.
std::string_view toString(LatencyMetric metric);
std::optional<LatencyMetric> latencyMetric(std::string_view name);

/// A latency of the successes (ended by stop or length, and not by a client who left), in ms. The counts of
/// SessionMetrics belong beside it: failed requests have no latency.
struct LatencyMetrics {
    std::int64_t count = 0;  ///< values
    std::optional<double> mean;
    engine::QuantileEstimate p50, p95, p99;  ///< an interval is empty where there is not enough data
    std::optional<double> max;
    bool operator==(const LatencyMetrics&) const = default;
};

struct RequestCounts {
    std::int64_t requests = 0;    ///< that count: all but warm-up; completed + failed + cancelled + unfinished
    std::int64_t completed = 0;   ///< ended by stop or length
    std::int64_t failed = 0;      ///< rejected or error
    std::int64_t cancelled = 0;   ///< with the run, or by a client who left
    std::int64_t hungUp = 0;      ///< of the cancelled: the client left on purpose
    std::int64_t unfinished = 0;  ///< no end is known: running, or the program was killed
    std::int64_t warmup = 0;      ///< planned before the WarmupEnd mark: in no figure
    std::int64_t good = 0;        ///< completed within every request limit; 0 where the limits are unknown
    std::int64_t preemptions = 0;
    std::int64_t promptTokens = 0, cachedTokens = 0;  ///< of requests whose prefill began
    std::int64_t outputTokens = 0;                    ///< delivered, to clients who left later too
    bool operator==(const RequestCounts&) const = default;
};

struct KvMetrics {
    std::optional<std::int64_t> total;           ///< blocks
    std::optional<std::int64_t> peakReferenced;  ///< blocks, of the samples
    std::optional<double> peakFraction;          ///< referenced / total, 0 … 1
    bool operator==(const KvMetrics&) const = default;
};

struct TargetOutcome {
    engine::SloTarget target;
    engine::QuantileEstimate value;  ///< ms
    std::optional<bool> met;         ///< empty: no value
    bool operator==(const TargetOutcome&) const = default;
};

struct SessionMetrics {
    /// The measured window on the session's axis: from the WarmupEnd mark (else the load's start; in a chat the first
    /// request) to the LoadEnd mark (else the last thing that happened).
    std::int64_t windowStartNs = 0, windowEndNs = 0;
    std::optional<double> durationS;  ///< of the window; empty where it has no length
    RequestCounts counts;

    LatencyMetrics ttft;  ///< planned → first text at the client; without streaming equal to e2e
    LatencyMetrics itl;   ///< gaps between deltas, of all requests pooled. Its intervals take them as independent
    LatencyMetrics itlPerRequest;  ///< the mean gap of each request
    LatencyMetrics tpot;           ///< (end − first text) / (output tokens − 1); none for one token
    LatencyMetrics e2e;            ///< planned → last text; the end where there was none
    LatencyMetrics queue;          ///< planned → first scheduled
    LatencyMetrics sendLag;        ///< planned → sent, of every request sent: what the load generator is late

    std::optional<double> promptTokensPerS, outputTokensPerS;  ///< tokens of the counted requests / window
    std::optional<double> requestsPerS;                        ///< completed / window
    std::optional<double> goodputPerS;                         ///< empty: the limits are unknown
    std::optional<double> goodputFraction;    ///< of all ended requests: failed, cancelled and hung-up ones included
    std::optional<double> prefixHitFraction;  ///< cached / prompt tokens
    KvMetrics kv;
    /// Means over the window, weighted by time; the rates by busy time.
    std::optional<double> deviceUse, achievedGbPerS, achievedTopPerS;
    std::optional<double> energyJ;  ///< watts over the window, as far as they are known
    std::vector<TargetOutcome> targets;
    std::optional<double> costPerGoodGeneration;  ///< in `currency`, idle time included
    std::optional<std::string> currency;

    bool operator==(const SessionMetrics&) const = default;

    const LatencyMetrics& latency(LatencyMetric metric) const;
};

/// By the limits, targets and price of the session's effective profile. 100,000 requests take well under a second.
SessionMetrics summarise(const SessionData& session);

/// What a session is judged by, apart from its rows.
struct Yardstick {
    std::optional<engine::Profile::Slo> slo;  ///< empty: unknown
    engine::Profile::Cost cost;
    bool streaming = true;
    bool operator==(const Yardstick&) const = default;
};
/// As an effective profile (JSON, of any origin) says it.
Yardstick yardstickOf(const std::string& profileJson);
/// By another yardstick than its own: the same limits for several sessions. Streaming stays the session's.
SessionMetrics summarise(const SessionData& session, const Yardstick& yardstick);

/// Times of one request in ms; what did not happen, or is impossible (an end before its beginning), is empty.
struct RequestLatencies {
    std::optional<double> ttft, tpot, e2e, queue;
    bool operator==(const RequestLatencies&) const = default;
};
RequestLatencies latenciesOf(const RequestRecord& request, bool streaming = true);
/// Ended by stop or length, and the client was still there.
bool succeeded(const RequestRecord& request);

/// The values behind a LatencyMetrics, ms, in planned order: for distributions. Itl: pooled.
std::vector<double> latencyValues(const SessionData& session, LatencyMetric metric);

/// What happened in a stretch of time. Rates are per second.
struct TimelineBucket {
    std::int64_t startNs = 0;
    std::optional<double> promptTokensPerS;  ///< of prompts in prefill, spread over it evenly; cached tokens left out
    std::optional<double> outputTokensPerS;  ///< delivered; the last bucket may not be full
    /// Sequences, mean: of the samples; of the requests' own times where no sample of the session tells.
    std::optional<double> queued, prefilling, decoding;
    std::optional<double> kvReferencedFraction, kvCachedFraction;        ///< mean, of all blocks
    std::optional<double> deviceUse, machineCpu, achievedGbPerS, watts;  ///< mean of the samples
    std::int64_t started = 0, ended = 0;                                 ///< requests planned, and ended, in it
    bool operator==(const TimelineBucket&) const = default;
};
struct Timeline {
    std::int64_t bucketNs = 0;
    std::vector<TimelineBucket> buckets;  ///< without gaps, from the first thing that happened to the last
    bool operator==(const Timeline&) const = default;
};
/// The whole session, warm-up too. `bucketNs` is raised where there would be more than `mostBuckets`.
constexpr std::int64_t mostBuckets = 20'000;
Timeline timeline(const SessionData& session, std::int64_t bucketNs);

}  // namespace firsttoken::sessions
