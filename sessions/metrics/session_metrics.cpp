#include "sessions/metrics/session_metrics.h"

#include <algorithm>
#include <array>

#include "sessions/metrics/gauge_means.h"
#include "sessions/metrics/measured_window.h"
#include "sessions/metrics/request_values.h"

namespace firsttoken::sessions {

namespace {

constexpr double nsPerMs = 1e6;
constexpr std::array allMetrics{LatencyMetric::Ttft, LatencyMetric::Itl, LatencyMetric::Tpot, LatencyMetric::E2e,
                                LatencyMetric::Queue};

template <class Metrics>
auto& latencyOf(Metrics& metrics, LatencyMetric metric) {
    switch (metric) {
        case LatencyMetric::Ttft:
            return metrics.ttft;
        case LatencyMetric::Itl:
            return metrics.itl;
        case LatencyMetric::Tpot:
            return metrics.tpot;
        case LatencyMetric::E2e:
            return metrics.e2e;
        case LatencyMetric::Queue:
            return metrics.queue;
    }
    return metrics.ttft;
}

/// Every value that a figure is taken from, ms.
struct Values {
    std::array<std::vector<double>, allMetrics.size()> latencies;  ///< by LatencyMetric
    std::vector<double> meanGaps, sendLags;
};

void countEnd(const RequestRecord& request, RequestCounts& counts) {
    ++counts.requests;
    counts.hungUp += request.hungUp ? 1 : 0;
    if (request.hungUp) {
        ++counts.cancelled;
        return;
    }
    switch (request.reason) {
        case engine::FinishReason::Stop:
        case engine::FinishReason::Length:
            ++counts.completed;
            break;
        case engine::FinishReason::Rejected:
        case engine::FinishReason::Error:
            ++counts.failed;
            break;
        case engine::FinishReason::Cancelled:
            ++counts.cancelled;
            break;
        case engine::FinishReason::None:
            ++counts.unfinished;
            break;
    }
}

/// Rows may come from anywhere: a sum that is no such number stays at the greatest.
void add(std::int64_t& sum, std::int64_t value) {
    if (value > 0 && __builtin_add_overflow(sum, value, &sum)) sum = INT64_MAX;
}

void countTokens(const RequestRecord& request, RequestCounts& counts) {
    add(counts.preemptions, request.preemptions);
    add(counts.outputTokens, request.outputTokens);
    // Refused before any of its prompt was looked at: neither work done nor a miss of the prefix cache.
    if (!request.scheduledNs && !request.firstTokenNs && !succeeded(request)) return;
    add(counts.promptTokens, request.promptTokens);
    add(counts.cachedTokens, request.cachedTokens);
}

void takeValues(const RequestRecord& request, const RequestLatencies& latencies, Values& values) {
    if (const auto lag = request.sentNs ? elapsedNs(request.plannedNs, *request.sentNs) : std::nullopt) {
        values.sendLags.push_back(static_cast<double>(*lag) / nsPerMs);
    }
    if (!succeeded(request)) return;
    for (const LatencyMetric metric : allMetrics) {
        appendValues(request, latencies, metric, values.latencies[static_cast<std::size_t>(metric)]);
    }
    if (const auto gap = meanGap(request)) values.meanGaps.push_back(*gap);
}

LatencyMetrics describe(std::vector<double> values) {
    constexpr std::array quantiles{0.5, 0.95, 0.99};
    LatencyMetrics latency;
    latency.count = static_cast<std::int64_t>(values.size());
    latency.mean = engine::mean(values);
    if (!values.empty()) latency.max = *std::max_element(values.begin(), values.end());
    const auto estimates = engine::quantileEstimates(std::move(values), quantiles);
    latency.p50 = estimates[0];
    latency.p95 = estimates[1];
    latency.p99 = estimates[2];
    return latency;
}

std::vector<TargetOutcome> outcomes(const std::vector<engine::SloTarget>& targets, const Values& values) {
    std::vector<TargetOutcome> result;
    for (const engine::SloTarget& target : targets) {
        const auto metric = latencyMetric(target.metric);
        if (!metric) continue;
        const std::array quantiles{target.quantile};
        TargetOutcome outcome;
        outcome.target = target;
        outcome.value =
            engine::quantileEstimates(values.latencies[static_cast<std::size_t>(*metric)], quantiles).front();
        if (outcome.value.value) outcome.met = *outcome.value.value <= target.limitMs;
        result.push_back(outcome);
    }
    return result;
}

std::optional<double> fraction(std::int64_t part, std::int64_t whole) {
    if (whole <= 0) return std::nullopt;
    return static_cast<double>(part) / static_cast<double>(whole);
}

void addRates(const Yardstick& yardstick, SessionMetrics& metrics) {
    const RequestCounts& counts = metrics.counts;
    metrics.prefixHitFraction = fraction(counts.cachedTokens, counts.promptTokens);
    if (yardstick.slo) metrics.goodputFraction = fraction(counts.good, counts.requests - counts.unfinished);
    if (!metrics.durationS || counts.requests == 0) return;
    const auto perS = [&](std::int64_t count) { return static_cast<double>(count) / *metrics.durationS; };
    metrics.promptTokensPerS = perS(counts.promptTokens);
    metrics.outputTokensPerS = perS(counts.outputTokens);
    metrics.requestsPerS = perS(counts.completed);
    if (!yardstick.slo) return;
    metrics.goodputPerS = perS(counts.good);
    if (!yardstick.cost.perHour || counts.good == 0) return;
    metrics.costPerGoodGeneration =
        *yardstick.cost.perHour * *metrics.durationS / 3600 / static_cast<double>(counts.good);
    metrics.currency = yardstick.cost.currency;
}

SessionMetrics summariseBy(const SessionData& session, const Yardstick& yardstick) {
    const MeasuredWindow window = measuredWindow(session);
    SessionMetrics metrics;
    metrics.windowStartNs = window.startNs;
    metrics.windowEndNs = window.endNs;
    metrics.durationS = window.seconds();
    Values values;
    for (const RequestRecord& request : session.requests) {
        if (!window.counts(request)) {
            ++metrics.counts.warmup;
            continue;
        }
        const RequestLatencies latencies = latenciesOf(request, yardstick.streaming);
        countEnd(request, metrics.counts);
        countTokens(request, metrics.counts);
        if (yardstick.slo && isGood(request, latencies, *yardstick.slo)) ++metrics.counts.good;
        takeValues(request, latencies, values);
    }
    if (yardstick.slo) metrics.targets = outcomes(yardstick.slo->targets, values);
    for (const LatencyMetric metric : allMetrics) {
        latencyOf(metrics, metric) = describe(std::move(values.latencies[static_cast<std::size_t>(metric)]));
    }
    metrics.itlPerRequest = describe(std::move(values.meanGaps));
    metrics.sendLag = describe(std::move(values.sendLags));
    addRates(yardstick, metrics);
    addGauges(session, window, metrics);
    return metrics;
}

}  // namespace

const LatencyMetrics& SessionMetrics::latency(LatencyMetric metric) const { return latencyOf(*this, metric); }

SessionMetrics summarise(const SessionData& session) {
    return summariseBy(session, yardstickOf(session.header.effectiveProfile));
}

SessionMetrics summarise(const SessionData& session, const Yardstick& yardstick) {
    Yardstick own = yardstick;
    own.streaming = yardstickOf(session.header.effectiveProfile).streaming;
    return summariseBy(session, own);
}

}  // namespace firsttoken::sessions
