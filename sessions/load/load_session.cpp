#include "sessions/load/load_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "engine/statistics.h"
#include "sessions/load/load_clock.h"
#include "sessions/load/load_generator.h"
#include "sessions/load/request_plan.h"
#include "sessions/load/session_header.h"
#include "sessions/load/session_recorder.h"
#include "sessions/models/sha256.h"

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Nanoseconds;
using engine::Result;

namespace {

constexpr Nanoseconds samplePeriodNs = 100'000'000;
/// Between the choice of the axis' zero and the first request: the store opens the session meanwhile.
constexpr Nanoseconds leadNs = 200'000'000;
constexpr std::size_t mostTextBytes = 16U << 20U;
constexpr double nsPerMs = 1e6;

double unixSeconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool stopped(const LoadSessionOptions& options) { return options.stop.stop_requested(); }

void tellPhase(const LoadSessionOptions& options, LoadPhase phase) {
    LoadProgress progress;
    progress.phase = phase;
    if (options.observer.progress) options.observer.progress(progress);
}

/// Before the load, so that reading gigabytes does not run beside it. Empty where the file cannot be read any more.
std::string modelHash(const std::string& path, SessionStore* store, const LoadSessionOptions& options) {
    if (store != nullptr) {
        if (const auto cached = store->cachedModelHash(path)) return *cached;
    }
    tellPhase(options, LoadPhase::HashingModel);
    const Result<std::string> hash = sha256OfFile(path, options.stop);
    if (!hash) return {};
    if (store != nullptr) store->cacheModelHash(path, *hash);
    return *hash;
}

std::string titleOf(const Workload& workload) {
    const std::string all = describeWorkload(workload);
    const std::string what = all.substr(0, all.find(';'));
    return workload.name.empty() ? what : workload.name + ": " + what;
}

SessionHeader loadHeader(const engine::Engine& engine, const Workload& workload, const std::string& title) {
    SessionHeader header = headerOf(engine);
    header.kind = SessionKind::Load;
    header.title = title.empty() ? titleOf(workload) : title;
    header.workload = toJson(workload);
    header.seed = workload.seed;
    return header;
}

LoadGenerator::Setup generatorSetup(const RequestPlan& plan, Nanoseconds startNs, bool keepTexts) {
    std::size_t bytes = 0;
    for (const PlannedRequest& request : plan.requests) bytes += request.text.size();
    LoadGenerator::Setup setup;
    setup.startNs = startNs;
    setup.keepPrompts = keepTexts && !plan.more && bytes <= mostTextBytes;
    setup.outputTextBytes = keepTexts ? mostTextBytes : 0;
    return setup;
}

SendLag sendLagOf(const std::vector<RequestRecord>& requests, const engine::Profile& profile) {
    std::vector<double> lags;
    for (const RequestRecord& request : requests) {
        if (request.sentNs) lags.push_back(static_cast<double>(*request.sentNs - request.plannedNs) / nsPerMs);
    }
    SendLag lag;
    lag.p50Ms = engine::percentile(lags, 0.5);
    lag.p99Ms = engine::percentile(lags, 0.99);
    lag.maxMs = engine::percentile(lags, 1);
    lag.degraded = lag.p99Ms.value_or(0) > profile.slo.ttftMs.value_or(1000) / 100;
    return lag;
}

/// The sentence of the first request that failed, where none completed.
std::string failureOf(const SessionData& data, const LoadProgress& progress) {
    if (progress.completed > 0 || progress.failed == 0) return {};
    for (const RequestRecord& request : data.requests) {
        const bool failed =
            request.reason == engine::FinishReason::Rejected || request.reason == engine::FinishReason::Error;
        if (failed) return fmt::format("no request completed; request {}: {}", request.number, request.detail);
    }
    return "no request completed";
}

/// A load that has begun: the sending thread, and the recording by this one.
class Session {
public:
    Session(engine::Engine& engine, RequestPlan plan, LoadOutcome& outcome, SessionWriter* writer,
            const LoadSessionOptions& options)
        : m_outcome(outcome),
          m_options(options),
          m_durationS(plan.workload.durationS),
          m_target(engine, fmt::format("load session {}", outcome.data.header.clockStartNs)),
          m_setup(generatorSetup(plan, outcome.data.header.clockStartNs, options.keepTexts)),
          m_generator(std::move(plan), m_target, m_sendClock, m_setup),
          m_recorder({engine, m_generator.live(), outcome.data, writer, options}) {}

    /// True: to its end; false: cancelled.
    bool run() {
        const std::int64_t cpuBefore = threadCpuNs();
        const std::stop_callback noteStop(m_options.stop, [this] { m_stoppedAtNs = m_sendClock.now(); });
        std::jthread sender([this] { send(); });
        Nanoseconds next = m_setup.startNs + samplePeriodNs;
        while (!m_sent) {
            m_recordClock.waitUntil(next);
            if (m_sent || m_recordClock.now() < next) continue;
            tick(false);
            while (next <= m_recordClock.now()) next += samplePeriodNs;
        }
        sender.join();
        tick(true);
        markEnd();
        m_outcome.lostEvents = m_recorder.lostEvents();
        m_outcome.cost.recorderCpuNs = threadCpuNs() - cpuBefore;
        m_outcome.cost.generatorCpuNs = m_senderCpuNs;
        return !m_cancelled;
    }

private:
    void send() {
        m_cancelled = !m_generator.run(m_options.stop);
        m_senderCpuNs = threadCpuNs();
        m_sent = true;
        m_recordClock.wake();
    }
    void tick(bool last) {
        m_recorder.tick(m_recordClock.now(), last);
        LoadProgress progress = m_generator.live().progress();
        progress.phase = last ? LoadPhase::Finished : LoadPhase::Running;
        progress.planned = m_generator.planned();
        if (m_durationS) progress.durationNs = static_cast<Nanoseconds>(*m_durationS * 1e9);
        m_outcome.progress = progress;
        if (m_options.observer.progress) m_options.observer.progress(progress);
    }
    void markEnd() {
        SessionData& data = m_outcome.data;
        Nanoseconds endNs = 0;
        for (const RequestRecord& request : data.requests) endNs = std::max(endNs, request.endNs.value_or(0));
        if (m_cancelled) {
            m_recorder.mark(std::max<Nanoseconds>(m_stoppedAtNs - m_setup.startNs, 0), MarkKind::Cancel);
        }
        m_recorder.mark(endNs, MarkKind::LoadEnd);
        std::stable_sort(data.requests.begin(), data.requests.end(),
                         [](const auto& a, const auto& b) { return a.number < b.number; });
        std::stable_sort(data.marks.begin(), data.marks.end(),
                         [](const auto& a, const auto& b) { return a.atNs < b.atNs; });
    }

    LoadOutcome& m_outcome;
    const LoadSessionOptions& m_options;
    std::optional<double> m_durationS;
    SteadyLoadClock m_sendClock, m_recordClock;
    EngineTarget m_target;
    LoadGenerator::Setup m_setup;
    LoadGenerator m_generator;
    SessionRecorder m_recorder;
    std::atomic<Nanoseconds> m_stoppedAtNs{0};
    std::atomic<bool> m_sent{false};  ///< the sending thread has come to its end, and what it wrote can be read
    bool m_cancelled = false;
    std::int64_t m_senderCpuNs = 0;
};

void finish(LoadOutcome& outcome, bool complete, SessionWriter* writer) {
    SessionHeader& header = outcome.data.header;
    header.failure = failureOf(outcome.data, outcome.progress);
    header.state = !complete                ? SessionState::Cancelled
                   : header.failure.empty() ? SessionState::Completed
                                            : SessionState::Failed;
    if (header.state != SessionState::Failed) header.failure.clear();
    header.endedAt = unixSeconds();
    if (writer == nullptr) return;
    const engine::Status ended = writer->end(header.state, header.failure);
    outcome.storageError = writer->error();
    if (!ended && !outcome.storageError) outcome.storageError = ended.error();
}

}  // namespace

Result<LoadOutcome> runLoadSession(engine::Engine& engine, const Workload& workload, SessionStore* store,
                                   const LoadSessionOptions& options) {
    const Error cancelled{ErrorCode::Cancelled, "cancelled before the load began"};
    tellPhase(options, LoadPhase::Planning);
    const engine::Profile& effective = engine.effective().profile;
    const std::int64_t context = effective.model.maxContextTokens.value_or(engine.model().contextLength);
    Result<RequestPlan> plan = makeRequestPlan(workload, engine.text(), context);
    if (!plan) return plan.error();
    if (stopped(options)) return cancelled;
    LoadOutcome outcome;
    SessionHeader& header = outcome.data.header;
    header = loadHeader(engine, workload, options.title);
    header.modelHash = modelHash(header.modelPath, store, options);
    if (stopped(options)) return cancelled;

    header.startedAt = unixSeconds() + static_cast<double>(leadNs) / 1e9;
    header.clockStartNs = SteadyLoadClock().now() + leadNs;
    std::unique_ptr<SessionWriter> writer;
    if (store != nullptr) {
        Result<std::unique_ptr<SessionWriter>> begun = store->begin(header);
        if (!begun) return begun.error();
        writer = std::move(*begun);
        header.id = outcome.session = writer->id();
    }
    const bool complete = Session(engine, std::move(*plan), outcome, writer.get(), options).run();
    outcome.sendLag = sendLagOf(outcome.data.requests, effective);
    finish(outcome, complete, writer.get());
    return outcome;
}

}  // namespace firsttoken::sessions
