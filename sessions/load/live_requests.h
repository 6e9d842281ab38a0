#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "sessions/load/load_clock.h"
#include "sessions/load/load_progress.h"
#include "sessions/session_records.h"

namespace firsttoken::sessions {

/// What has happened to a load since the last look. Times count from the load's start.
struct LoadNews {
    std::vector<RequestRecord> ended;
    std::vector<std::pair<engine::RequestId, std::int64_t>> numbers;  ///< the target's ids of requests now sent
    /// Requests planned before it are warm-up; given once, as soon as it is known.
    std::optional<engine::Nanoseconds> warmupEndNs;
};

/// The requests of a load that are in flight, and what has become of the others. The sending thread adds, the
/// target's threads update, others look: every function by any thread, none waits for long. An update of a request
/// that is not in flight (any more) changes nothing.
class LiveRequests {
public:
    /// `startNs`: the load's start on the clock. `outputTextBytes`: of answers that are kept, all together. The clock
    /// is woken while requests are in flight.
    LiveRequests(LoadClock& clock, engine::Nanoseconds startNs, std::size_t outputTextBytes);

    /// `record` with what is known when it is sent. `outputTokens`: so many are expected. `hangUpAfter` 0: never.
    void add(RequestRecord record, std::int64_t outputTokens, std::int64_t hangUpAfter);
    void setId(std::int64_t number, engine::RequestId id);
    void update(std::int64_t number, const engine::RequestUpdate& update);
    /// The client has hung up and the target will not tell the end.
    void endUntold(std::int64_t number, engine::Nanoseconds now);
    void setWarmupEnd(engine::Nanoseconds sinceStart);

    /// What the sending thread must act on.
    struct Signals {
        std::vector<std::pair<std::int64_t, engine::RequestId>> hangUps;
        std::vector<std::pair<std::int64_t, engine::Nanoseconds>> ends;  ///< number, end since the load's start
    };
    Signals takeSignals();
    std::vector<engine::RequestId> inFlight() const;
    /// Nothing is in flight and no signal waits to be taken.
    bool settled() const;

    LoadNews takeNews();
    /// Requests in flight that have changed since the last call, as they stand.
    std::vector<RequestRecord> unfinished();
    LoadProgress progress();

private:
    struct Live {
        RequestRecord record;
        engine::RequestId id = 0;
        std::int64_t hangUpAfter = 0;
        bool leaving = false;  ///< the client has seen enough
        bool changed = true;   ///< since unfinished() looked
    };
    void copyTimes(RequestRecord& record, const engine::RequestTimes& times) const;
    void deliver(Live& live, const engine::RequestUpdate& update);
    void end(std::int64_t number, engine::FinishReason reason, std::string detail, engine::Nanoseconds endNs);
    void refreshPercentiles(engine::Nanoseconds now);

    LoadClock& m_clock;
    const engine::Nanoseconds m_startNs;

    mutable std::mutex m_mutex;                     ///< guards what follows
    std::unordered_map<std::int64_t, Live> m_live;  ///< by number
    std::vector<std::int64_t> m_hangUps;            ///< numbers
    std::vector<std::pair<std::int64_t, engine::Nanoseconds>> m_ends;
    LoadNews m_news;
    LoadProgress m_progress;
    std::vector<double> m_ttftMs;
    std::size_t m_ttftsSeen = 0;  ///< by the percentiles
    engine::Nanoseconds m_percentilesAtNs = 0;
    std::size_t m_outputTextLeft;  ///< bytes
};

}  // namespace firsttoken::sessions
