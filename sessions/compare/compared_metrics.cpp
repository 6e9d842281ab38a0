#include "sessions/compare/compared_metrics.h"

#include <cmath>

namespace firsttoken::sessions {

namespace {

using engine::Direction;

constexpr ComparedMetric latencyAt(std::string_view name, LatencyMetric latency, std::size_t quantile) {
    return {name, MetricKind::Latency, Direction::LowerIsBetter, latency, quantile};
}

constexpr std::array<ComparedMetric, 21> table{{
    latencyAt("ttft_p50", LatencyMetric::Ttft, 0),
    latencyAt("ttft_p95", LatencyMetric::Ttft, 1),
    latencyAt("ttft_p99", LatencyMetric::Ttft, 2),
    latencyAt("itl_p50", LatencyMetric::Itl, 0),
    latencyAt("itl_p95", LatencyMetric::Itl, 1),
    latencyAt("itl_p99", LatencyMetric::Itl, 2),
    latencyAt("tpot_p50", LatencyMetric::Tpot, 0),
    latencyAt("tpot_p95", LatencyMetric::Tpot, 1),
    latencyAt("tpot_p99", LatencyMetric::Tpot, 2),
    latencyAt("e2e_p50", LatencyMetric::E2e, 0),
    latencyAt("e2e_p95", LatencyMetric::E2e, 1),
    latencyAt("e2e_p99", LatencyMetric::E2e, 2),
    latencyAt("queue_p50", LatencyMetric::Queue, 0),
    latencyAt("queue_p95", LatencyMetric::Queue, 1),
    latencyAt("queue_p99", LatencyMetric::Queue, 2),
    {"output_tokens_per_s", MetricKind::OutputRate, Direction::HigherIsBetter},
    {"goodput_per_s", MetricKind::GoodputRate, Direction::HigherIsBetter},
    {"goodput_fraction", MetricKind::GoodputFraction, Direction::HigherIsBetter},
    {"prefix_hit_fraction", MetricKind::PrefixHits, Direction::HigherIsBetter},
    {"kv_peak_fraction", MetricKind::KvPeak, Direction::LowerIsBetter},
    {"device_use", MetricKind::DeviceUse, Direction::Neutral},
}};

}  // namespace

std::span<const ComparedMetric> comparedMetrics() { return table; }

std::optional<double> valueOf(const SessionMetrics& metrics, const ComparedMetric& metric) {
    switch (metric.kind) {
        case MetricKind::Latency: {
            const LatencyMetrics& latency = metrics.latency(metric.latency);
            const std::array estimates{&latency.p50, &latency.p95, &latency.p99};
            return estimates[metric.quantile]->value;
        }
        case MetricKind::OutputRate:
            return metrics.outputTokensPerS;
        case MetricKind::GoodputRate:
            return metrics.goodputPerS;
        case MetricKind::GoodputFraction:
            return metrics.goodputFraction;
        case MetricKind::PrefixHits:
            return metrics.prefixHitFraction;
        case MetricKind::KvPeak:
            return metrics.kv.peakFraction;
        case MetricKind::DeviceUse:
            return metrics.deviceUse;
    }
    return std::nullopt;
}

std::string primaryMetric(const std::optional<engine::Profile::Slo>& slo) {
    const std::string usual = "ttft_p95";
    if (!slo || slo->targets.empty()) return usual;
    const engine::SloTarget& target = slo->targets.front();
    std::string best = usual;
    double distance = 2;
    for (const ComparedMetric& metric : table) {
        if (metric.kind != MetricKind::Latency || toString(metric.latency) != target.metric) continue;
        const double away = std::abs(comparedQuantiles[metric.quantile] - target.quantile);
        if (away < distance) best = metric.name;
        distance = std::min(distance, away);
    }
    return best;
}

}  // namespace firsttoken::sessions
