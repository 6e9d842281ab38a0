#pragma once

#include <string_view>

#include "sessions/report/chart_scales.h"
#include "sessions/report/markup.h"
#include "sessions/report/session_view.h"

namespace firsttoken::sessions {

/// A session over time as one SVG: TTFT of every request, rates, sequences, KV blocks and the device, one below the
/// other on one time axis, with the session's marks across all. `id`: unique in the document.
void drawTimeChart(Markup& html, const SessionView& view, const ChartScales& scales, std::string_view id);

}  // namespace firsttoken::sessions
