#pragma once

#include "sessions/report/markup.h"
#include "sessions/report/session_view.h"

namespace firsttoken::sessions {

/// What the chart over time shows, as numbers: at most forty stretches of time. Folded.
void writeTimelineTable(Markup& html, const SessionView& view);
/// All requests where they are few, else those that failed and the slowest.
void writeRequests(Markup& html, const SessionView& view);
/// The marks with their texts.
void writeMarks(Markup& html, const SessionView& view);
/// What was asked and answered, of a chat whose texts were kept.
void writeConversation(Markup& html, const SessionView& view);

}  // namespace firsttoken::sessions
