#pragma once

#include "sessions/metrics/measured_window.h"
#include "sessions/metrics/session_metrics.h"

namespace firsttoken::sessions {

/// What the samples within the window say: kv, deviceUse, the achieved rates, energyJ. The rates of a sample are of the
/// time since the one before it.
void addGauges(const SessionData& session, const MeasuredWindow& window, SessionMetrics& metrics);

}  // namespace firsttoken::sessions
