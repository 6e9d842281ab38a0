#pragma once

#include <cstddef>

#include "sessions/report/session_view.h"
#include "sessions/report/strip.h"

namespace firsttoken::sessions {

/// Up to here each request has a dot of its own, with a text that tells it.
constexpr std::size_t mostSingleDots = 500;

/// A dot for the TTFT of each request at its planned time, crosses at the top for failures, the SLO's line, the
/// legend. Of more requests, those that would lie on one another share a dot, so that the size is bounded.
void drawRequestDots(const Strip& strip, const SessionView& view);

}  // namespace firsttoken::sessions
