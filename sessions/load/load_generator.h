#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sessions/load/live_requests.h"
#include "sessions/load/load_clock.h"
#include "sessions/load/load_target.h"
#include "sessions/load/request_plan.h"

namespace firsttoken::sessions {

/// Sends a plan to a target, each request at its planned time whatever the target does, and measures from that time:
/// a stall is seen by every request planned in it. run() and what it owns are one thread's; live() is any thread's.
///
/// Per token the target's thread does the work (one short lock, no allocation but the answer's text); the sending
/// thread wakes only to send, at ends, and to hang up.
class LoadGenerator {
public:
    struct Setup {
        engine::Nanoseconds startNs = 0;  ///< of the load, on the clock; not yet past
        bool keepPrompts = true;
        std::size_t outputTextBytes = 0;  ///< of answers that are kept, all together
    };
    /// `target` and `clock` must outlive the generator. Sinks outlive it harmlessly.
    LoadGenerator(RequestPlan plan, LoadTarget& target, LoadClock& clock, const Setup& setup);

    /// Until every request has ended. A stop cancels what is in flight, sends nothing more, and waits for the ends.
    /// Requests whose client has left and that a target runs on for nobody are cancelled at the end. False if it was
    /// stopped before everything was sent and ended.
    bool run(const std::stop_token& stop);

    LiveRequests& live() { return *m_live; }
    /// Requests of the plan; none where only a duration limits a closed loop.
    std::optional<std::int64_t> planned() const;

private:
    /// Closed loop: a client that is about to send.
    struct Due {
        engine::Nanoseconds plannedNs = 0;  ///< since the load's start
        std::int64_t client = 0;
        auto operator<=>(const Due&) const = default;
    };
    struct Client {
        std::int64_t client = 0;
        engine::Nanoseconds thinkNs = 0;
    };

    void tellWarmup();
    void startClients();
    void obey(const LiveRequests::Signals& pending);
    void sendDue();
    void sendClosed(const Due& due);
    void send(PlannedRequest request, engine::Nanoseconds plannedNs);
    void makeAhead();
    bool nothingToSend() const;
    engine::Nanoseconds nextDeadline() const;

    RequestPlan m_plan;
    LoadTarget& m_target;
    LoadClock& m_clock;
    const Setup m_setup;
    std::shared_ptr<LiveRequests> m_live;  ///< shared with the sinks
    std::size_t m_next = 0;                ///< of the plan's requests
    std::deque<PlannedRequest> m_ahead;    ///< made beyond the plan, not sent
    std::int64_t m_made = 0;               ///< number of the last one there is
    std::set<Due> m_due;
    std::unordered_map<std::int64_t, Client> m_clients;  ///< by the number of their request in flight
    std::vector<engine::RequestId> m_abandoned;          ///< the client has left, the target runs on
};

}  // namespace firsttoken::sessions
