#pragma once

#include <optional>
#include <vector>

#include "sessions/metrics/session_metrics.h"

/// What one request gives to the figures of its session.
namespace firsttoken::sessions {

/// Of a success: its values of the metric, ms; several for Itl, none where it did not happen.
void appendValues(const RequestRecord& request, const RequestLatencies& latencies, LatencyMetric metric,
                  std::vector<double>& values);
/// Between its first and its last delta, ms; empty for fewer than two.
std::optional<double> meanGap(const RequestRecord& request);
/// Succeeded, and within every limit there is. A limit on what did not happen is not met; but an answer without a time
/// per token meets that limit.
bool isGood(const RequestRecord& request, const RequestLatencies& latencies, const engine::Profile::Slo& slo);

}  // namespace firsttoken::sessions
