#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "sessions/load/gauge_series.h"
#include "sessions/load/live_requests.h"
#include "sessions/load/load_session.h"
#include "sessions/session_records.h"
#include "sessions/session_store.h"

namespace firsttoken::sessions {

/// Turns what an engine and the requests in flight tell into the rows of a session: kept in memory, written, and told
/// to the observer. Owned by one thread.
class SessionRecorder {
public:
    struct Parts {
        const engine::Engine& engine;
        LiveRequests& live;
        SessionData& data;
        SessionWriter* writer = nullptr;  ///< null: in memory only
        const LoadSessionOptions& options;
    };
    /// From now on the engine's events belong to the session.
    explicit SessionRecorder(const Parts& parts);

    /// Everything since the last tick, and one sample. Clock time; `last`: nothing more will come.
    void tick(engine::Nanoseconds now, bool last);
    void mark(engine::Nanoseconds sinceStart, MarkKind kind, std::string text = {});
    std::uint64_t lostEvents() const { return m_lostEvents; }

private:
    void drainEvents();
    void takeNews(engine::Nanoseconds sinceStart, bool last);
    void ended(RequestRecord record);
    void writeUnfinished(engine::Nanoseconds sinceStart);
    void resolveSpans(bool last);
    void span(SpanRecord record);
    void sample(engine::Nanoseconds now, const engine::EngineSnapshot& gauges, bool last);
    engine::Nanoseconds onAxis(engine::Nanoseconds clockNs) const { return clockNs - m_parts.data.header.clockStartNs; }

    Parts m_parts;
    GaugeSeries m_gauges{0};
    std::uint64_t m_nextEvent = 0;
    std::uint64_t m_lostEvents = 0;
    std::map<engine::RequestId, std::int64_t> m_numbers;    ///< of requests of this session
    std::vector<engine::SpanEvent> m_newSpans, m_oldSpans;  ///< not resolved: since the last tick, before it
    std::optional<engine::Nanoseconds> m_warmupEndNs;       ///< known, not yet marked
    engine::Nanoseconds m_unfinishedWrittenNs = 0;
    bool m_wasIdle = false;
};

}  // namespace firsttoken::sessions
