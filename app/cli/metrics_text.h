#pragma once

#include <string>

#include "app/cli/console.h"
#include "sessions/metrics/session_metrics.h"
#include "sessions/session_records.h"

/// A session's figures for people and programs.
namespace firsttoken::app {

/// The fields of `load --json`, and of `sessions show --json`.
Json sessionJson(const sessions::SessionData& session, const sessions::SessionMetrics& metrics);
/// Several lines: counts, latencies with intervals, rates, goodput, KV.
std::string metricsText(const sessions::SessionMetrics& metrics);

}  // namespace firsttoken::app
