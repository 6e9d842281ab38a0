#pragma once

#include <span>
#include <string_view>

#include "sessions/report/markup.h"
#include "sessions/report/session_view.h"

namespace firsttoken::sessions {

/// How TTFT, ITL, TPOT and E2E are distributed, a panel each: the share of values at or below each latency, a line for
/// each session. `id`: unique in the document.
void drawDistributions(Markup& html, std::span<const SessionView> views, std::string_view id);

}  // namespace firsttoken::sessions
