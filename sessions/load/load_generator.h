#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "sessions/load/load_clock.h"
#include "sessions/load/load_progress.h"
#include "sessions/load/load_target.h"
#include "sessions/load/request_plan.h"
#include "sessions/session_records.h"

namespace firsttoken::sessions {

/// What has happened since the last look. Times count from the load's start.
struct LoadNews {
    std::vector<RequestRecord> ended;
    std::vector<std::pair<engine::RequestId, std::int64_t>> numbers;  ///< the target's ids of requests now sent
    /// Requests planned before it are warm-up; given once, as soon as it is known.
    std::optional<engine::Nanoseconds> warmupEndNs;
};

/// Sends a plan to a target, each request at its planned time whatever the target does, and measures from that time:
/// a stall is seen by every request planned in it. run() is one thread's; the rest may be called by any.
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
    /// `target` and `clock` must outlive the run; sinks that outlive the generator are harmless.
    LoadGenerator(RequestPlan plan, LoadTarget& target, LoadClock& clock, Setup setup);
    ~LoadGenerator();
    LoadGenerator(const LoadGenerator&) = delete;
    LoadGenerator& operator=(const LoadGenerator&) = delete;

    /// Until every request has ended. A stop cancels what is in flight, sends nothing more, and waits for the ends.
    void run(std::stop_token stop);

    LoadProgress progress() const;
    LoadNews takeNews();
    /// Requests in flight that have changed since the last call, as they stand.
    std::vector<RequestRecord> unfinished();

private:
    class Run;
    std::shared_ptr<Run> m_run;
};

}  // namespace firsttoken::sessions
