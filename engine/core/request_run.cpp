#include "engine/core/request_run.h"

#include <utility>

namespace firsttoken::engine {

RequestRun::RequestRun(const Setup& setup, Request request, UpdateSink sink, const Text& text, EventRing& events)
    : m_setup(setup),
      m_request(std::move(request)),
      m_sink(std::move(sink)),
      m_text(text),
      m_events(events),
      m_sampler(m_request.sampling, setup.seed, setup.neverSampled),
      m_stops(m_request.stopStrings),
      m_stateSinceNs(setup.submittedNs) {
    m_times.plannedNs = m_request.plannedNs != 0 ? m_request.plannedNs : setup.submittedNs;
    m_times.submittedNs = setup.submittedNs;
}

void RequestRun::arrived() {
    if (m_times.plannedNs < m_times.submittedNs) span(Stage::ClientLag, m_times.plannedNs, m_times.submittedNs);
}

RequestUpdate RequestRun::update(Nanoseconds now) const {
    RequestUpdate update;
    update.request = m_setup.id;
    update.atNs = now;
    update.state = m_state;
    update.promptTokens = static_cast<std::uint32_t>(m_request.prompt.size());
    update.cachedTokens = m_cachedTokens;
    update.prefilledTokens = m_prefilledTokens;
    update.outputTokens = m_outputTokens;
    update.queuePlace = m_state == RequestState::Queued ? m_queuePlace : 0;
    update.preemptions = m_preemptions;
    update.reason = m_reason;
    update.times = m_times;
    return update;
}

void RequestRun::send(const RequestUpdate& update) const {
    if (m_sink && !m_clientGone) m_sink(update);
}

void RequestRun::span(Stage stage, Nanoseconds startNs, Nanoseconds endNs) {
    m_events.push({endNs, SpanEvent{m_setup.id, stage, startNs, endNs}});
}

/// Ends the span of the state that is left and tells the new one.
void RequestRun::enter(RequestState state, Nanoseconds now) {
    if (state != m_state) {
        const Stage stage = m_state == RequestState::Queued       ? Stage::Queue
                            : m_state == RequestState::Prefilling ? Stage::Prefill
                                                                  : Stage::Decode;
        span(stage, m_stateSinceNs, now);
        m_stateSinceNs = now;
        m_state = state;
    }
    StateEvent event;
    event.request = m_setup.id;
    event.state = m_state;
    event.reason = m_reason;
    event.promptTokens = static_cast<std::uint32_t>(m_request.prompt.size());
    event.cachedTokens = m_cachedTokens;
    event.prefilledTokens = m_prefilledTokens;
    event.outputTokens = m_outputTokens;
    event.preemptions = m_preemptions;
    m_events.push({now, event});
}

void RequestRun::queued(std::uint32_t place, Nanoseconds now) {
    m_queuePlace = place;
    enter(RequestState::Queued, now);
    send(update(now));
}

void RequestRun::admitted(std::uint32_t cachedTokens, Nanoseconds now) {
    if (m_times.firstScheduledNs == 0) {
        m_times.firstScheduledNs = now;
        m_cachedTokens = cachedTokens;
        m_prefilledTokens = cachedTokens;
    }
    enter(RequestState::Prefilling, now);
    send(update(now));
}

void RequestRun::preempted(Nanoseconds now) {
    ++m_preemptions;
    m_queuePlace = 1;
    enter(RequestState::Queued, now);
    send(update(now));
}

void RequestRun::prefillProgress(std::uint32_t prefilled, Nanoseconds now) {
    m_prefilledTokens = prefilled;
    enter(RequestState::Prefilling, now);
    send(update(now));
}

bool RequestRun::token(TokenId id, Nanoseconds now) {
    if (m_times.prefillEndNs == 0) m_times.prefillEndNs = now;
    m_prefilledTokens = static_cast<std::uint32_t>(m_request.prompt.size());
    ++m_outputTokens;
    m_events.push({now, TokenEvent{m_setup.id, id, m_outputTokens - 1}});
    if (m_state != RequestState::Decoding) enter(RequestState::Decoding, now);
    if (m_text.isEndOfGeneration(id) && !m_request.ignoreEndOfGeneration) {
        deliver({}, {id}, now);
        return true;
    }
    StopMatcher::Out out = m_stops.push(m_decoder.push(m_text.tokenBytes(id)));
    deliver(std::move(out.text), {id}, now);
    if (out.stopped) m_stopString = out.stop;
    return out.stopped;
}

void RequestRun::deliver(std::string text, std::vector<TokenId> tokens, Nanoseconds now) {
    if (!m_setup.streaming) {
        m_withheld += text;
        m_withheldTokens.insert(m_withheldTokens.end(), tokens.begin(), tokens.end());
        return;
    }
    if (!text.empty() && m_times.firstTokenNs == 0) m_times.firstTokenNs = now;
    RequestUpdate news = update(now);
    news.text = std::move(text);
    news.tokens = std::move(tokens);
    send(news);
}

void RequestRun::finish(FinishReason reason, std::string detail, Nanoseconds now) {
    m_reason = reason;
    if (m_stopString.empty()) {
        std::string held = m_stops.push(m_decoder.flush()).text;
        held += m_stops.flush();
        m_withheld += held;
    }
    m_times.endNs = now;
    if (!m_withheld.empty() && m_times.firstTokenNs == 0) m_times.firstTokenNs = now;
    if (m_times.firstTokenNs != 0) span(Stage::Stream, m_times.firstTokenNs, now);
    enter(RequestState::Finished, now);
    RequestUpdate last = update(now);
    last.text = std::move(m_withheld);
    last.tokens = std::move(m_withheldTokens);
    last.detail = std::move(detail);
    send(last);
}

}  // namespace firsttoken::engine
