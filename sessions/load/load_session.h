#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/engine.h"
#include "engine/result.h"
#include "sessions/load/load_progress.h"
#include "sessions/load/workload.h"
#include "sessions/session_records.h"
#include "sessions/session_store.h"

namespace firsttoken::sessions {

/// How late requests left, planned to sent. A load generator that lags measures itself.
struct SendLag {
    std::optional<double> p50Ms, p99Ms, maxMs;
    /// p99 above 1 % of the profile's TTFT limit (above 10 ms where it has none): the figures are not to be trusted.
    bool degraded = false;
    bool operator==(const SendLag&) const = default;
};

/// CPU time that the session itself took, to be held against the engine's.
struct LoadCost {
    std::int64_t generatorCpuNs = 0;  ///< the thread that sends
    std::int64_t recorderCpuNs = 0;   ///< the thread that called runLoadSession(), while the load ran
    bool operator==(const LoadCost&) const = default;
};

struct LoadOutcome {
    SessionId session = 0;  ///< 0: not stored
    SessionData data;       ///< all of it, ended
    LoadProgress progress;  ///< the last one
    SendLag sendLag;
    LoadCost cost;
    std::uint64_t lostEvents = 0;               ///< engine events that came too fast; gauges near them are absent
    std::optional<engine::Error> storageError;  ///< what is in `data` may then be missing from the store
};

/// What the session tells while it runs, on the thread that called runLoadSession(). Every one may be empty.
struct LoadObserver {
    std::function<void(const LoadProgress&)> progress;  ///< ten times a second
    std::function<void(const RequestRecord&)> request;  ///< as requests end
    std::function<void(const SpanRecord&)> span;
    std::function<void(const SampleRecord&)> sample;
    std::function<void(const MarkRecord&)> mark;
};

struct LoadSessionOptions {
    std::string title;     ///< empty: what the workload does
    std::stop_token stop;  ///< cancels: what is in flight is cancelled, the rest kept
    LoadObserver observer;
    /// Fills in what the machine does ten times a second: sessions/device_sampler.h. Empty: those gauges stay absent.
    std::function<void(SampleRecord&)> deviceSampler;
    /// Texts of prompts and answers are kept where all prompts together have at most 16 MiB, and answers up to as much.
    bool keepTexts = true;
};

/// Runs a workload against an engine and keeps it as a session. Returns when every request has ended. Threads: one
/// that sends; the caller's records at 10 Hz. `store` may be null. The prefix cache is cold at the start: every run
/// has a namespace of its own.
/// Errors: BadInput (the workload), DoesNotFit (a request over the context, with the numbers), Io and others of
/// SessionStore::begin, Cancelled (before the load began). Once it has begun there is an outcome: Completed,
/// Cancelled, or Failed where requests failed and none completed.
engine::Result<LoadOutcome> runLoadSession(engine::Engine& engine, const Workload& workload, SessionStore* store,
                                           const LoadSessionOptions& options);

}  // namespace firsttoken::sessions
