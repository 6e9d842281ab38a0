#pragma once

#include <span>

#include "sessions/report/axis.h"
#include "sessions/report/session_view.h"

namespace firsttoken::sessions {

/// The axes of the charts, the same for all sessions of a report, so that heights and lengths may be compared.
struct ChartScales {
    Axis time;  ///< seconds
    Axis ttft;  ///< ms
    Axis outputRate, promptRate, sequences, share, gbPerS, watts;
    bool hasGbPerS = false, hasWatts = false;  ///< in any session
};
ChartScales chartScales(std::span<const SessionView> views);

}  // namespace firsttoken::sessions
