#include "sessions/compare/within_run.h"

#include <algorithm>
#include <cmath>

#include "sessions/metrics/measured_window.h"
#include "sessions/metrics/request_values.h"

namespace firsttoken::sessions {

namespace {

constexpr std::size_t resamples = 1000;
constexpr std::size_t fewestBlocks = 5;
constexpr std::size_t mostBlocks = 40;
constexpr std::size_t allLatencies = 5;

/// Requests that count, in planned order, cut into blocks of about equal number: as many blocks as a block has
/// requests, so that blocks are longer than what neighbours share, and enough to be drawn from.
struct Blocks {
    std::vector<const RequestRecord*> requests;
    std::vector<std::size_t> ends;
};

Blocks blocksOf(const SessionData& session, const MeasuredWindow& window) {
    Blocks blocks;
    for (const RequestRecord& request : session.requests) {
        if (window.counts(request) && request.endNs) blocks.requests.push_back(&request);
    }
    std::stable_sort(blocks.requests.begin(), blocks.requests.end(),
                     [](const auto* a, const auto* b) { return a->plannedNs < b->plannedNs; });
    const std::size_t count = blocks.requests.size();
    const auto number = std::min(static_cast<std::size_t>(std::sqrt(static_cast<double>(count))), mostBlocks);
    if (number < fewestBlocks) return {};
    for (std::size_t block = 1; block <= number; ++block) blocks.ends.push_back(count * block / number);
    return blocks;
}

/// What a block adds to the numerators and denominators of rates and fractions.
struct Sums {
    std::vector<double> seconds, requests, outputTokens, good, promptTokens, cachedTokens;
};

Sums sumsOf(const Blocks& blocks, const MeasuredWindow& window, const Yardstick& yardstick) {
    Sums sums;
    std::size_t next = 0;
    std::int64_t startNs = window.startNs;
    for (const std::size_t end : blocks.ends) {
        double output = 0, good = 0, prompt = 0, cached = 0;
        sums.requests.push_back(static_cast<double>(end - next));
        for (; next < end; ++next) {
            const RequestRecord& request = *blocks.requests[next];
            const bool met =
                yardstick.slo && isGood(request, latenciesOf(request, yardstick.streaming), *yardstick.slo);
            good += met ? 1 : 0;
            output += static_cast<double>(request.outputTokens);
            prompt += static_cast<double>(request.promptTokens);
            cached += static_cast<double>(request.cachedTokens);
        }
        const std::int64_t endNs = next < blocks.requests.size() ? blocks.requests[next]->plannedNs : window.endNs;
        sums.seconds.push_back(static_cast<double>(elapsedNs(startNs, endNs).value_or(0)) / 1e9);
        startNs = endNs;
        sums.outputTokens.push_back(output);
        sums.good.push_back(good);
        sums.promptTokens.push_back(prompt);
        sums.cachedTokens.push_back(cached);
    }
    return sums;
}

/// [compared quantile][resample] of one latency; a quantile that the run has too few values for is empty.
std::vector<std::vector<double>> latencyResamples(const Blocks& blocks, LatencyMetric latency, bool streaming,
                                                  std::uint64_t seed) {
    engine::BlockedValues blocked;
    std::size_t next = 0;
    for (const std::size_t end : blocks.ends) {
        for (; next < end; ++next) {
            const RequestRecord& request = *blocks.requests[next];
            if (!succeeded(request)) continue;
            appendValues(request, latenciesOf(request, streaming), latency, blocked.values);
        }
        blocked.blockEnds.push_back(blocked.values.size());
    }
    auto result = engine::bootstrapQuantiles(blocked, comparedQuantiles, resamples, seed);
    for (std::size_t q = 0; q < result.size(); ++q) {
        const auto needed = engine::valuesForInterval(comparedQuantiles[q]);
        if (!needed || blocked.values.size() < *needed) result[q].clear();
    }
    return result;
}

std::vector<double> deviceUseResamples(const SessionData& session, const MeasuredWindow& window, std::uint64_t seed) {
    std::vector<double> busy, wall;
    std::optional<std::int64_t> before;
    for (const SampleRecord& sample : session.samples) {
        const auto from = std::max(before.value_or(sample.atNs), window.startNs);
        const auto within = elapsedNs(from, std::min(sample.atNs, window.endNs));
        before = sample.atNs;
        if (!within || !sample.deviceUse) continue;
        wall.push_back(static_cast<double>(*within) / 1e9);
        busy.push_back(wall.back() * *sample.deviceUse);
    }
    const auto number = std::min(static_cast<std::size_t>(std::sqrt(static_cast<double>(wall.size()))), mostBlocks);
    if (number < fewestBlocks) return {};
    std::vector<double> busyOfBlock(number), wallOfBlock(number);
    for (std::size_t i = 0; i < wall.size(); ++i) {
        busyOfBlock[i * number / wall.size()] += busy[i];
        wallOfBlock[i * number / wall.size()] += wall[i];
    }
    return engine::bootstrapRatios(busyOfBlock, wallOfBlock, resamples, seed);
}

}  // namespace

std::vector<std::vector<double>> withinRunResamples(const SessionData& session, const Yardstick& yardstick,
                                                    std::uint64_t seed) {
    const MeasuredWindow window = measuredWindow(session);
    const Blocks blocks = blocksOf(session, window);
    const Sums sums = sumsOf(blocks, window, yardstick);
    std::array<std::vector<std::vector<double>>, allLatencies> latencies;
    std::vector<std::vector<double>> result;
    for (const ComparedMetric& metric : comparedMetrics()) {
        const auto ratio = [&](const std::vector<double>& part, const std::vector<double>& whole) {
            return engine::bootstrapRatios(part, whole, resamples, seed);
        };
        std::vector<double> values;
        switch (metric.kind) {
            case MetricKind::Latency: {
                auto& quantiles = latencies[static_cast<std::size_t>(metric.latency)];
                if (metric.quantile == 0) {
                    quantiles = latencyResamples(blocks, metric.latency, yardstick.streaming, seed);
                }
                if (!quantiles.empty()) values = std::move(quantiles[metric.quantile]);
                break;
            }
            case MetricKind::OutputRate:
                values = ratio(sums.outputTokens, sums.seconds);
                break;
            case MetricKind::GoodputRate:
                values = ratio(sums.good, sums.seconds);
                break;
            case MetricKind::GoodputFraction:
                values = ratio(sums.good, sums.requests);
                break;
            case MetricKind::PrefixHits:
                values = ratio(sums.cachedTokens, sums.promptTokens);
                break;
            case MetricKind::KvPeak:
                break;  // one number a run
            case MetricKind::DeviceUse:
                values = deviceUseResamples(session, window, seed);
                break;
        }
        result.push_back(std::move(values));
    }
    return result;
}

}  // namespace firsttoken::sessions
