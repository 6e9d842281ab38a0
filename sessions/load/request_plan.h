#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/events.h"
#include "engine/result.h"
#include "engine/text.h"
#include "sessions/load/workload.h"

namespace firsttoken::sessions {

/// One request, all of it decided before the run.
struct PlannedRequest {
    std::int64_t number = 0;              ///< from 1, in planned order
    engine::Nanoseconds plannedNs = 0;    ///< open loop: since the load's start
    engine::Nanoseconds thinkNs = 0;      ///< closed loop: its client's pause after the answer
    std::vector<engine::TokenId> prompt;  ///< exactly as long as was drawn
    std::string text;                     ///< what a client would have sent
    std::int64_t outputTokens = 1;
    std::int64_t prefixGroup = -1;  ///< -1: shares nothing
    std::int64_t hangUpAfter = 0;   ///< the client leaves once it has so many output tokens; 0: never
    std::uint64_t samplingSeed = 0;
    bool operator==(const PlannedRequest&) const = default;
};

/// Makes requests by number: a pure function of workload, seed and vocabulary. Immutable after creation: any thread.
class RequestPlanner {
public:
    /// Pre: checkWorkload() is content. `text` must outlive it.
    RequestPlanner(const Workload& workload, const engine::Text& text);
    ~RequestPlanner();
    RequestPlanner(const RequestPlanner&) = delete;
    RequestPlanner& operator=(const RequestPlanner&) = delete;

    const Workload& workload() const;
    /// `number` from 1. Without plannedNs, which depends on the requests before.
    PlannedRequest request(std::int64_t number) const;
    /// Tokens of prompt and output, without making the request.
    std::pair<std::int64_t, std::int64_t> lengths(std::int64_t number) const;
    /// Open loop: seconds between the request before (or the start) and this one.
    double gapSeconds(std::int64_t number) const;

private:
    struct State;
    std::unique_ptr<const State> m_state;
};

struct RequestPlan {
    Workload workload;
    std::vector<PlannedRequest> requests;  ///< by number
    /// Closed loop without a number of requests: further ones are made as they are needed. Else null.
    std::shared_ptr<const RequestPlanner> more;
};

/// Everything that can be decided before the run. `text` must outlive a plan that has `more`. Errors: BadInput (the
/// workload), DoesNotFit (a request's prompt and output over `contextTokens`, with the numbers; or the plan over
/// mostPlannedTokens).
engine::Result<RequestPlan> makeRequestPlan(const Workload& workload, const engine::Text& text,
                                            std::int64_t contextTokens);

}  // namespace firsttoken::sessions
