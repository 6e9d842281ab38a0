#pragma once

#include <cstdint>
#include <optional>

#include "sessions/session_records.h"

namespace firsttoken::sessions {

/// Which requests count, and the stretch of time that rates are taken over. On the session's axis.
struct MeasuredWindow {
    std::int64_t startNs = 0, endNs = 0;  ///< start <= end
    std::optional<std::int64_t> warmupEndNs;

    bool counts(const RequestRecord& request) const { return !warmupEndNs || request.plannedNs >= *warmupEndNs; }
    std::optional<double> seconds() const;  ///< empty where the window has no length
};
MeasuredWindow measuredWindow(const SessionData& session);

/// When the first and the last thing happened that the rows tell of; 0 where there are none.
struct SessionExtent {
    std::int64_t firstNs = 0, lastNs = 0;
};
SessionExtent extentOf(const SessionData& session);

/// later - earlier; empty where that is negative or no such number: rows may come from anywhere.
std::optional<std::int64_t> elapsedNs(std::int64_t earlier, std::int64_t later);

}  // namespace firsttoken::sessions
