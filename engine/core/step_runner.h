#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/compute/backend.h"
#include "engine/core/request_run.h"
#include "engine/observe/event_ring.h"
#include "engine/schedule/scheduler.h"

namespace firsttoken::engine {

using Clock = std::function<Nanoseconds()>;

/// Turns the scheduler's plan into a backend step and its logits into tokens for the requests. Owns the requests that
/// run. Engine loop's thread only; the clock is given, so that tests can hold it.
class StepRunner {
public:
    struct Parts {
        Executor& executor;
        KvCache& cache;
        Scheduler& scheduler;
        const Text& text;
        EventRing& events;
        Clock clock;
        std::function<void()> beforeFinish;  ///< called when a request's blocks are free, before it is told
    };
    struct Totals {
        std::uint64_t steps = 0, finished = 0, cancelled = 0, rejected = 0, failed = 0, wastedTokens = 0;
    };

    StepRunner(Parts parts, std::string nameSpace);

    /// Hands the request to the scheduler, or ends it with Rejected.
    void submit(std::unique_ptr<RequestRun> run);
    void cancel(RequestId id, const std::string& why);
    /// The client is gone and the request runs on: nothing is told any more.
    void disown(RequestId id);
    void cancelAll(const std::string& why);

    bool hasWork() const { return m_parts.scheduler.hasWork(); }
    void step();

    const Totals& totals() const { return m_totals; }
    std::span<const TokenId> neverSampled() const { return m_neverSampled; }

private:
    void tellPlan(const StepPlan& plan, Nanoseconds now);
    StepBatch buildBatch(const StepPlan& plan) const;
    /// One token a logits entry; requests whose logits are unusable are finished with Error.
    std::vector<TokenId> sample(const StepPlan& plan);
    void deliver(const StepPlan& plan, const std::vector<TokenId>& sampled, Nanoseconds now);
    void pushStep(const StepPlan& plan, Nanoseconds now, Nanoseconds duration);
    void finish(RequestId id, FinishReason reason, const std::string& detail, Nanoseconds now);
    RequestRun* find(RequestId id);

    Parts m_parts;
    std::string m_nameSpace;
    std::unordered_map<RequestId, std::unique_ptr<RequestRun>> m_runs;
    std::vector<TokenId> m_neverSampled;
    std::vector<float> m_logits;
    Totals m_totals;
};

}  // namespace firsttoken::engine
