#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/compute/backend.h"
#include "engine/core/evaluator.h"
#include "engine/core/step_runner.h"
#include "engine/engine.h"
#include "engine/model/model.h"
#include "engine/observe/event_ring.h"
#include "engine/schedule/scheduler.h"

namespace firsttoken::engine {

/// The engine behind its door: callers post commands under a mutex, the loop thread takes them between two steps.
/// The loop thread alone touches model, executor, cache, scheduler and requests.
class EngineLoop final : public Engine {
public:
    struct Parts {
        std::shared_ptr<const Model> model;
        std::shared_ptr<const Text> text;
        std::unique_ptr<Executor> executor;
        std::unique_ptr<KvCache> cache;
        Profile requested;
        EffectiveProfile effective;
        std::string nameSpace;  ///< of the prefix cache: all that KV depends on beside the tokens
    };

    explicit EngineLoop(Parts parts);
    ~EngineLoop() override;

    RequestId submit(Request request, UpdateSink sink) override;
    void cancel(RequestId request) override;
    void disconnect(RequestId request) override;
    Result<Evaluation> evaluate(const EvaluateRequest& request) override;
    EngineSnapshot snapshot() const override;
    EventBatch events(std::uint64_t from) const override { return m_events.read(from); }
    const ModelInfo& model() const override { return m_parts.model->info(); }
    const Text& text() const override { return *m_parts.text; }
    const Profile& requestedProfile() const override { return m_parts.requested; }
    const EffectiveProfile& effective() const override { return m_parts.effective; }
    std::string isa() const override { return m_parts.executor->isa(); }
    std::string arithmetic() const override { return m_parts.executor->arithmeticName(); }

private:
    enum class Kind { Submit, Cancel, Disconnect };
    struct Command {
        Kind kind;
        RequestId id = 0;
        std::unique_ptr<RequestRun> run;
    };
    struct EvaluateJob {
        EvaluateRequest request;
        std::promise<Result<Evaluation>> answer;
    };

    void post(Command command);
    void loop();
    void obey(Command command);
    /// Evaluations whose blocks can be had now, in their order.
    void evaluateReady();
    void publishSnapshot();

    Parts m_parts;
    EventRing m_events;
    Scheduler m_scheduler;
    StepRunner m_runner;
    Evaluator m_evaluator;
    std::deque<EvaluateJob> m_waitingJobs;  ///< loop thread's
    std::atomic<RequestId> m_nextId{1};
    std::uint64_t m_seedBase;

    mutable std::mutex m_mutex;  ///< guards what follows
    std::condition_variable m_wake;
    std::deque<Command> m_commands;
    std::deque<EvaluateJob> m_jobs;
    EngineSnapshot m_snapshot;
    bool m_stop = false;

    std::thread m_thread;  ///< last: starts when all else is there
};

}  // namespace firsttoken::engine
