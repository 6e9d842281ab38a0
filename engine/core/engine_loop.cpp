#include "engine/core/engine_loop.h"

#include <chrono>
#include <random>

namespace firsttoken::engine {

namespace {

Nanoseconds steadyNow() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::uint64_t randomSeed() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

EngineLoop::EngineLoop(Parts parts)
    : m_parts(std::move(parts)),
      m_scheduler(SchedulerConfig::fromProfile(m_parts.effective.profile), *m_parts.cache),
      m_runner({*m_parts.executor, *m_parts.cache, m_scheduler, *m_parts.text, m_events, steadyNow,
                [this] { publishSnapshot(); }},
               m_parts.nameSpace),
      m_evaluator(*m_parts.executor, *m_parts.cache, m_scheduler.config().maxContextTokens),
      m_seedBase(randomSeed()) {
    publishSnapshot();
    m_thread = std::thread([this] { loop(); });
}

EngineLoop::~EngineLoop() {
    {
        const std::lock_guard lock(m_mutex);
        m_stop = true;
    }
    m_wake.notify_all();
    m_thread.join();
}

RequestId EngineLoop::submit(Request request, UpdateSink sink) {
    RequestRun::Setup setup;
    setup.id = m_nextId.fetch_add(1);
    setup.seed = m_seedBase + setup.id;
    setup.streaming = request.streaming.value_or(m_parts.effective.profile.response.streaming);
    setup.neverSampled = m_runner.neverSampled();
    setup.submittedNs = steadyNow();
    post({Kind::Submit, setup.id,
          std::make_unique<RequestRun>(setup, std::move(request), std::move(sink), *m_parts.text, m_events)});
    return setup.id;
}

void EngineLoop::cancel(RequestId request) { post({Kind::Cancel, request, nullptr}); }

void EngineLoop::disconnect(RequestId request) { post({Kind::Disconnect, request, nullptr}); }

void EngineLoop::post(Command command) {
    {
        const std::lock_guard lock(m_mutex);
        m_commands.push_back(std::move(command));
    }
    m_wake.notify_one();
}

Result<Evaluation> EngineLoop::evaluate(const EvaluateRequest& request) {
    EvaluateJob job;
    job.request = request;
    std::future<Result<Evaluation>> answer = job.answer.get_future();
    {
        const std::lock_guard lock(m_mutex);
        m_jobs.push_back(std::move(job));
    }
    m_wake.notify_one();
    return answer.get();
}

EngineSnapshot EngineLoop::snapshot() const {
    const std::lock_guard lock(m_mutex);
    return m_snapshot;
}

void EngineLoop::loop() {
    for (;;) {
        std::deque<Command> commands;
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait(lock,
                        [this] { return m_stop || !m_commands.empty() || !m_jobs.empty() || m_runner.hasWork(); });
            if (m_stop) break;
            commands.swap(m_commands);
            for (EvaluateJob& job : m_jobs) m_waitingJobs.push_back(std::move(job));
            m_jobs.clear();
        }
        for (Command& command : commands) obey(std::move(command));
        evaluateReady();
        if (m_runner.hasWork()) m_runner.step();
        publishSnapshot();
    }
    // What was posted and not yet taken ends too: every request has its one terminal update.
    for (Command& command : m_commands) {
        if (command.kind == Kind::Submit) obey(std::move(command));
    }
    m_runner.cancelAll("the engine was stopped");
    for (EvaluateJob& job : m_jobs) m_waitingJobs.push_back(std::move(job));
    for (EvaluateJob& job : m_waitingJobs) {
        job.answer.set_value(Error{ErrorCode::Cancelled, "the engine was stopped"});
    }
}

void EngineLoop::obey(Command command) {
    switch (command.kind) {
        case Kind::Submit:
            m_runner.submit(std::move(command.run));
            break;
        case Kind::Cancel:
            m_runner.cancel(command.id, {});
            break;
        case Kind::Disconnect:
            if (m_parts.effective.profile.response.cancelOnDisconnect) {
                m_runner.cancel(command.id, "the client disconnected");
            } else {
                m_runner.disown(command.id);
            }
            break;
    }
}

void EngineLoop::evaluateReady() {
    while (!m_waitingJobs.empty()) {
        EvaluateJob& job = m_waitingJobs.front();
        const Status possible = m_evaluator.check(job.request);
        if (possible && !m_evaluator.ready(job.request)) return;  // after the next step, perhaps
        Result<Evaluation> result = possible ? m_evaluator.run(job.request) : Result<Evaluation>(possible.error());
        if (result) {
            const bool f32 = m_parts.effective.profile.cache.kvPrecision == KvCachePrecision::F32;
            result->kvPrecision = f32 ? "f32" : "f16";
        }
        job.answer.set_value(std::move(result));
        m_waitingJobs.pop_front();
    }
}

void EngineLoop::publishSnapshot() {
    EngineSnapshot snapshot;
    const SchedulerCounts counts = m_scheduler.counts();
    snapshot.queued = counts.queued;
    snapshot.prefilling = counts.prefilling;
    snapshot.decoding = counts.decoding;
    snapshot.preemptions = counts.preemptions;
    const BlockCounts blocks = m_parts.cache->counts();
    snapshot.blocksTotal = blocks.total;
    snapshot.blocksReferenced = blocks.referenced;
    snapshot.blocksCached = blocks.cached;
    snapshot.blocksFree = blocks.free;
    snapshot.weightBytes = m_parts.model->info().weightBytes;
    snapshot.kvBytes = m_parts.executor->kvBytes();
    snapshot.workBytes = m_parts.executor->workBytes();
    const StepRunner::Totals& totals = m_runner.totals();
    snapshot.steps = totals.steps;
    snapshot.finished = totals.finished;
    snapshot.cancelled = totals.cancelled;
    snapshot.rejected = totals.rejected;
    snapshot.failed = totals.failed;
    snapshot.wastedTokens = totals.wastedTokens;
    const std::lock_guard lock(m_mutex);
    m_snapshot = snapshot;
}

}  // namespace firsttoken::engine
