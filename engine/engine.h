#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/events.h"
#include "engine/model_info.h"
#include "engine/profile.h"
#include "engine/result.h"
#include "engine/text.h"

/// The engine's door: one set of models and one profile, one loop thread that owns models, KV pools and sequences.
namespace firsttoken::engine {

struct Request {
    std::vector<TokenId> prompt;           ///< at least one token
    SamplingSettings sampling;
    std::int64_t maxTokens = 0;            ///< output tokens; 0: up to the context's end
    std::vector<std::string> stopStrings;  ///< matched on decoded text, never delivered in part
    bool ignoreEndOfGeneration = false;    ///< run to maxTokens (measuring)
    std::optional<bool> streaming;         ///< none: the profile's response.streaming
    std::string cacheSalt;                 ///< prefix-cache namespace of the caller
    int priority = 0;                      ///< higher first under SchedulePolicy::Priority
    Nanoseconds plannedNs = 0;             ///< planned arrival; 0: now
};

/// All times of a request on the steady clock; 0 = did not happen.
struct RequestTimes {
    Nanoseconds plannedNs = 0;
    Nanoseconds submittedNs = 0;
    Nanoseconds firstScheduledNs = 0;
    Nanoseconds prefillEndNs = 0;
    Nanoseconds firstTokenNs = 0;          ///< first non-empty text delta delivered
    Nanoseconds endNs = 0;
    Nanoseconds ttftNs() const { return firstTokenNs == 0 ? 0 : firstTokenNs - plannedNs; }
};

/// One message of the engine about a request. Exactly one has `state` Finished, and it is the last.
struct RequestUpdate {
    RequestId request = 0;
    Nanoseconds atNs = 0;
    RequestState state = RequestState::Queued;
    std::string text;                      ///< new text; whole UTF-8 characters
    std::vector<TokenId> tokens;           ///< tokens sampled since the last update
    std::uint32_t promptTokens = 0;
    std::uint32_t cachedTokens = 0;        ///< prompt tokens taken from the prefix cache
    std::uint32_t prefilledTokens = 0;     ///< of promptTokens, cached ones included
    std::uint32_t outputTokens = 0;
    std::uint32_t queuePlace = 0;          ///< 1 = next; while queued
    std::uint32_t preemptions = 0;
    FinishReason reason = FinishReason::None;
    std::string detail;                    ///< for Rejected and Error: the sentence; for Stop: the stop string, if any
    RequestTimes times;
};

/// Called on the engine's loop thread; must return at once and not call back into the engine.
using UpdateSink = std::function<void(const RequestUpdate&)>;

struct EngineOptions {
    std::string modelPath;
    Profile profile;                       ///< requested
    std::function<void(double)> progress;  ///< 0 … 1 while loading, from the loading thread
    std::stop_token stop;                  ///< cancels loading
};

struct EngineSnapshot {
    std::uint32_t queued = 0, prefilling = 0, decoding = 0;
    std::uint32_t blocksTotal = 0, blocksReferenced = 0, blocksCached = 0, blocksFree = 0;
    std::uint64_t weightBytes = 0, kvBytes = 0, workBytes = 0;
    std::uint64_t steps = 0, preemptions = 0;
    std::uint64_t finished = 0, cancelled = 0, rejected = 0, failed = 0;
    std::uint64_t wastedTokens = 0;        ///< computed for requests whose client had gone
};

struct Evaluation {
    std::vector<float> logits;             ///< after the last given token
    std::vector<TokenId> greedy;
    std::string isa;                       ///< instruction set of the kernels: plain, avx2
    std::string arithmetic;                ///< int8 if any product rounds its activations so, else f32
    std::string kvPrecision;
};

struct EvaluateRequest {
    std::vector<TokenId> tokens;
    std::int64_t greedy = 0;               ///< further tokens by argmax; end-of-generation does not stop it
};

class Engine {
public:
    /// Maps the model, checks it, fits memory, compiles the plan, starts the loop thread.
    static Result<std::unique_ptr<Engine>> load(const EngineOptions& options);
    /// Ends every request with Cancelled, joins the loop.
    virtual ~Engine() = default;

    /// Never waits. What can never fit, or a full queue, ends at once with Rejected through the sink.
    virtual RequestId submit(Request request, UpdateSink sink) = 0;
    /// Any state, any number of times, unknown ids too. The Finished update comes within one step.
    virtual void cancel(RequestId request) = 0;
    /// The client is gone: cancels if the profile's cancel_on_disconnect says so, else runs on as wasted work.
    virtual void disconnect(RequestId request) = 0;
    /// Runs between steps on the loop thread; waits for its end.
    virtual Result<Evaluation> evaluate(const EvaluateRequest& request) = 0;

    virtual EngineSnapshot snapshot() const = 0;
    /// Events since `from` (0: the oldest kept). Any thread; never blocks the engine.
    virtual EventBatch events(std::uint64_t from) const = 0;

    virtual const ModelInfo& model() const = 0;
    virtual const Text& text() const = 0;
    virtual const Profile& requestedProfile() const = 0;
    virtual const EffectiveProfile& effective() const = 0;
    virtual std::string isa() const = 0;
    virtual std::string arithmetic() const = 0;
};

}  // namespace firsttoken::engine
