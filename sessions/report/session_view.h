#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sessions/metrics/session_metrics.h"
#include "sessions/session_records.h"

namespace firsttoken::sessions {

/// How a request is drawn and told.
enum class RequestKind { Completed, Warmup, Failed, Left, Unfinished };

/// A session with its figures, made once for all parts of a report.
struct SessionView {
    const SessionData* data = nullptr;  ///< outlives the view
    SessionMetrics metrics;
    Yardstick yardstick;
    Timeline timeline;  ///< for the charts
    std::string label;  ///< A, B … where there are several; else empty
    std::string title;  ///< never empty
    double startS = 0;  ///< of all that happened, on the session's axis
    double endS = 0;

    RequestKind kindOf(const RequestRecord& request) const;
    std::optional<double> ttftMs(const RequestRecord& request) const;
    /// "A · title", or the title.
    std::string name() const;
};

/// `index` counts from 0; `several`: sessions get letters.
SessionView viewOf(const SessionData& session, std::size_t index, bool several);

/// A name for latencies and metrics as people read it: "TTFT p95", and its unit ("ms"; empty for fractions).
struct MetricName {
    std::string name;
    std::string unit;
    bool isFraction = false;
};
/// Of a comparison's metric (ttft_p95, output_tokens_per_s …); an unknown name is kept.
MetricName metricName(std::string_view name);
/// TTFT, ITL, TPOT, E2E, Queue time.
std::string_view latencyName(LatencyMetric metric);

}  // namespace firsttoken::sessions
