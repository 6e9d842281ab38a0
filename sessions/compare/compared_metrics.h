#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/statistics.h"
#include "sessions/metrics/session_metrics.h"

namespace firsttoken::sessions {

enum class MetricKind { Latency, OutputRate, GoodputRate, GoodputFraction, PrefixHits, KvPeak, DeviceUse };

/// One of the figures that arms are compared by.
struct ComparedMetric {
    std::string_view name;
    MetricKind kind = MetricKind::Latency;
    engine::Direction direction = engine::Direction::LowerIsBetter;
    LatencyMetric latency = LatencyMetric::Ttft;  ///< of Latency
    std::size_t quantile = 0;                     ///< of Latency: index into comparedQuantiles
};
constexpr std::array<double, 3> comparedQuantiles{0.5, 0.95, 0.99};

/// All of them, in the order they are shown.
///
/// A lower KV peak is better: the same work left more room. Device use has no good side: at the same offered load less
/// of it is room to spare, in a closed loop it is a device that waits.
std::span<const ComparedMetric> comparedMetrics();
std::optional<double> valueOf(const SessionMetrics& metrics, const ComparedMetric& metric);

/// The metric that gives the verdict of a comparison: that of the first target, at the nearest of the compared
/// quantiles; without one ttft_p95.
std::string primaryMetric(const std::optional<engine::Profile::Slo>& slo);

}  // namespace firsttoken::sessions
