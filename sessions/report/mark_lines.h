#pragma once

#include <string>

#include "sessions/report/axis.h"
#include "sessions/report/markup.h"
#include "sessions/report/session_view.h"

namespace firsttoken::sessions {

/// "warm-up end", "note: …": what a mark says.
std::string markText(const MarkRecord& mark);

/// Height of the rows of labels above the strips.
double markLabelsHeight(const SessionView& view);
/// The warm-up's ground, behind the strips.
void drawWarmup(Markup& svg, const SessionView& view, const Axis& time, double top, double bottom);
/// A line across all strips for each mark, with its label above where there is room.
void drawMarks(Markup& svg, const SessionView& view, const Axis& time, double top, double bottom);

}  // namespace firsttoken::sessions
