#pragma once

#include <span>

#include "sessions/report/markup.h"
#include "sessions/report/session_view.h"

namespace firsttoken::sessions {

/// The six figures that matter, as cards.
void writeFigures(Markup& html, const SessionView& view);
/// Every figure of a session, percentiles with their intervals.
void writeMetrics(Markup& html, const SessionView& view);
/// The same figures of several sessions side by side; short.
void writeSideBySide(Markup& html, std::span<const SessionView> views);

}  // namespace firsttoken::sessions
