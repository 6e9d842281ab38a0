#include <array>

#include "sessions/metrics/measured_window.h"
#include "sessions/metrics/request_values.h"
#include "sessions/metrics/session_metrics.h"

namespace firsttoken::sessions {

namespace {

constexpr double nsPerMs = 1e6;
constexpr std::array<std::string_view, 5> metricNames{"ttft", "itl", "tpot", "e2e", "queue"};

std::optional<double> elapsedMs(std::int64_t earlier, const std::optional<std::int64_t>& later) {
    const auto elapsed = later ? elapsedNs(earlier, *later) : std::nullopt;
    if (!elapsed) return std::nullopt;
    return static_cast<double>(*elapsed) / nsPerMs;
}

void appendGaps(const RequestRecord& request, std::vector<double>& gapsMs) {
    for (std::size_t i = 1; i < request.deltaNs.size(); ++i) {
        if (const auto gap = elapsedMs(request.deltaNs[i - 1], request.deltaNs[i])) gapsMs.push_back(*gap);
    }
}

}  // namespace

std::string_view toString(LatencyMetric metric) { return metricNames[static_cast<std::size_t>(metric)]; }

std::optional<LatencyMetric> latencyMetric(std::string_view name) {
    for (std::size_t i = 0; i < metricNames.size(); ++i) {
        if (metricNames[i] == name) return static_cast<LatencyMetric>(i);
    }
    return std::nullopt;
}

bool succeeded(const RequestRecord& request) {
    const bool ended = request.reason == engine::FinishReason::Stop || request.reason == engine::FinishReason::Length;
    return ended && !request.hungUp;
}

RequestLatencies latenciesOf(const RequestRecord& request, bool streaming) {
    RequestLatencies latencies;
    const auto last = request.deltaNs.empty() ? request.endNs : std::optional(request.deltaNs.back());
    latencies.e2e = elapsedMs(request.plannedNs, last);
    latencies.ttft = streaming ? elapsedMs(request.plannedNs, request.firstTokenNs) : latencies.e2e;
    latencies.queue = elapsedMs(request.plannedNs, request.scheduledNs);
    // An answer that comes whole has no time per token.
    if (streaming && request.firstTokenNs && request.outputTokens > 1) {
        latencies.tpot = elapsedMs(*request.firstTokenNs, request.endNs);
        if (latencies.tpot) *latencies.tpot /= static_cast<double>(request.outputTokens - 1);
    }
    return latencies;
}

std::optional<double> meanGap(const RequestRecord& request) {
    if (request.deltaNs.size() < 2) return std::nullopt;
    auto all = elapsedMs(request.deltaNs.front(), request.deltaNs.back());
    if (all) *all /= static_cast<double>(request.deltaNs.size() - 1);
    return all;
}

bool isGood(const RequestRecord& request, const RequestLatencies& latencies, const engine::Profile::Slo& slo) {
    const auto meets = [](const std::optional<double>& value, const std::optional<double>& limit) {
        return !limit || (value && *value <= *limit);
    };
    // One token, or an answer that comes whole, has no time per token that could be too long.
    const bool tpot = !latencies.tpot || meets(latencies.tpot, slo.tpotMs);
    return succeeded(request) && tpot && meets(latencies.ttft, slo.ttftMs) && meets(latencies.e2e, slo.e2eMs);
}

void appendValues(const RequestRecord& request, const RequestLatencies& latencies, LatencyMetric metric,
                  std::vector<double>& values) {
    const auto append = [&values](const std::optional<double>& value) {
        if (value) values.push_back(*value);
    };
    switch (metric) {
        case LatencyMetric::Ttft:
            return append(latencies.ttft);
        case LatencyMetric::Itl:
            return appendGaps(request, values);
        case LatencyMetric::Tpot:
            return append(latencies.tpot);
        case LatencyMetric::E2e:
            return append(latencies.e2e);
        case LatencyMetric::Queue:
            return append(latencies.queue);
    }
}

std::vector<double> latencyValues(const SessionData& session, LatencyMetric metric) {
    const MeasuredWindow window = measuredWindow(session);
    const bool streaming = yardstickOf(session.header.effectiveProfile).streaming;
    std::vector<double> values;
    for (const RequestRecord& request : session.requests) {
        if (!window.counts(request) || !succeeded(request)) continue;
        appendValues(request, latenciesOf(request, streaming), metric, values);
    }
    return values;
}

}  // namespace firsttoken::sessions
