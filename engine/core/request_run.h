#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/observe/event_ring.h"
#include "engine/sample/sampler.h"
#include "engine/text/stop_matcher.h"
#include "engine/text/stream_decoder.h"

namespace firsttoken::engine {

/// What one request needs beside its sequence: sampler, text stream, times, and the way back to its client.
/// Every change of state becomes an event, a span and an update. Engine loop's thread only, but for the constructor.
class RequestRun {
public:
    struct Setup {
        RequestId id = 0;
        std::uint64_t seed = 0;                 ///< where the request names none
        bool streaming = true;                  ///< false: the answer comes whole
        std::span<const TokenId> neverSampled;  ///< outlives the run
        Nanoseconds submittedNs = 0;
    };
    RequestRun(const Setup& setup, Request request, UpdateSink sink, const Text& text, EventRing& events);

    const Request& request() const { return m_request; }
    RequestId id() const { return m_setup.id; }
    RequestState state() const { return m_state; }
    const RequestTimes& times() const { return m_times; }
    Sampler& sampler() { return m_sampler; }
    bool clientGone() const { return m_clientGone; }
    void setClientGone() { m_clientGone = true; }

    /// First call on the loop's thread: the constructor may run on a caller's.
    void arrived();
    void queued(std::uint32_t place, Nanoseconds now);
    void admitted(std::uint32_t cachedTokens, Nanoseconds now);
    void preempted(Nanoseconds now);
    /// `prefilled`: prompt tokens whose KV is there.
    void prefillProgress(std::uint32_t prefilled, Nanoseconds now);
    /// A sampled token. True if the request ends with it (end of generation or a stop string); the caller finishes.
    bool token(TokenId id, Nanoseconds now);
    /// The one terminal update; releases held text unless a stop string ended it.
    void finish(FinishReason reason, std::string detail, Nanoseconds now);

    std::uint32_t outputTokens() const { return m_outputTokens; }
    const std::string& stopString() const { return m_stopString; }

private:
    RequestUpdate update(Nanoseconds now) const;
    void enter(RequestState state, Nanoseconds now);
    void deliver(std::string text, std::vector<TokenId> tokens, Nanoseconds now);
    void send(const RequestUpdate& update) const;
    void span(Stage stage, Nanoseconds startNs, Nanoseconds endNs);

    Setup m_setup;
    Request m_request;
    UpdateSink m_sink;
    const Text& m_text;
    EventRing& m_events;
    Sampler m_sampler;
    StreamDecoder m_decoder;
    StopMatcher m_stops;
    RequestState m_state = RequestState::Queued;
    FinishReason m_reason = FinishReason::None;
    RequestTimes m_times;
    Nanoseconds m_stateSinceNs = 0;
    std::uint32_t m_cachedTokens = 0, m_prefilledTokens = 0, m_outputTokens = 0;
    std::uint32_t m_queuePlace = 0, m_preemptions = 0;
    bool m_clientGone = false;
    std::string m_stopString;
    std::string m_withheld;  ///< text of an answer that comes whole
    std::vector<TokenId> m_withheldTokens;
};

}  // namespace firsttoken::engine
