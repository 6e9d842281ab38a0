#include "sessions/load/session_recorder.h"

#include <utility>
#include <variant>

namespace firsttoken::sessions {

using engine::Nanoseconds;

namespace {

/// A crash loses at most the last second, of long answers too.
constexpr Nanoseconds unfinishedEveryNs = 1'000'000'000;

}  // namespace

SessionRecorder::SessionRecorder(const Parts& parts) : m_parts(parts) {
    // What the engine did before is skipped.
    for (;;) {
        const engine::EventBatch batch = m_parts.engine.events(m_nextEvent);
        m_nextEvent = batch.next;
        if (batch.events.empty()) break;
    }
}

void SessionRecorder::tick(Nanoseconds now, bool last) {
    // The gauges before the events: an engine that was idle has told all its steps. The events before the news: most
    // of their requests are then known by number.
    const engine::EngineSnapshot gauges = m_parts.engine.snapshot();
    drainEvents();
    takeNews(onAxis(now), last);
    resolveSpans(last);
    sample(now, gauges, last);
}

void SessionRecorder::drainEvents() {
    for (;;) {
        const engine::EventBatch batch = m_parts.engine.events(m_nextEvent);
        m_nextEvent = batch.next;
        if (batch.dropped > 0) {
            m_lostEvents += batch.dropped;
            m_gauges.stepsLost();
        }
        for (const engine::Event& event : batch.events) {
            if (const auto* step = std::get_if<engine::StepEvent>(&event.what)) {
                m_gauges.step(onAxis(event.atNs), *step);
            } else if (const auto* span = std::get_if<engine::SpanEvent>(&event.what)) {
                m_newSpans.push_back(*span);
            }
        }
        if (batch.events.empty()) return;
    }
}

void SessionRecorder::takeNews(Nanoseconds sinceStart, bool last) {
    LoadNews news = m_parts.live.takeNews();
    for (const auto& [id, number] : news.numbers) m_numbers.emplace(id, number);
    if (news.warmupEndNs) m_warmupEndNs = news.warmupEndNs;
    if (m_warmupEndNs && (last || *m_warmupEndNs <= sinceStart)) {
        mark(*m_warmupEndNs, MarkKind::WarmupEnd);
        m_warmupEndNs.reset();
    }
    for (RequestRecord& record : news.ended) ended(std::move(record));
    if (sinceStart - m_unfinishedWrittenNs >= unfinishedEveryNs) writeUnfinished(sinceStart);
}

void SessionRecorder::ended(RequestRecord record) {
    if (record.sentNs && *record.sentNs > record.plannedNs) {
        span({record.number, engine::Stage::ClientLag, record.plannedNs, *record.sentNs});
    }
    if (m_parts.writer != nullptr) m_parts.writer->request(record);
    if (m_parts.options.observer.request) m_parts.options.observer.request(record);
    m_parts.data.requests.push_back(std::move(record));
}

void SessionRecorder::writeUnfinished(Nanoseconds sinceStart) {
    m_unfinishedWrittenNs = sinceStart;
    if (m_parts.writer == nullptr) return;
    for (RequestRecord& record : m_parts.live.unfinished()) m_parts.writer->request(std::move(record));
}

/// Spans of requests that are not this session's (a chat beside it) are dropped, but only once their number has had a
/// whole tick to become known.
void SessionRecorder::resolveSpans(bool last) {
    const auto known = [this](const engine::SpanEvent& event) {
        const auto found = m_numbers.find(event.request);
        if (found == m_numbers.end()) return false;
        span({found->second, event.stage, onAxis(event.startNs), onAxis(event.endNs)});
        return true;
    };
    for (const engine::SpanEvent& event : m_oldSpans) known(event);
    m_oldSpans.clear();
    for (const engine::SpanEvent& event : std::exchange(m_newSpans, {})) {
        if (!known(event) && !last) m_oldSpans.push_back(event);
    }
}

void SessionRecorder::span(SpanRecord record) {
    if (m_parts.writer != nullptr) m_parts.writer->span(record);
    if (m_parts.options.observer.span) m_parts.options.observer.span(record);
    m_parts.data.spans.push_back(record);
}

void SessionRecorder::sample(Nanoseconds now, const engine::EngineSnapshot& gauges, bool last) {
    SampleRecord taken;
    taken.atNs = onAxis(now);
    if (m_parts.options.deviceSampler) m_parts.options.deviceSampler(taken);
    // Twice idle: the end of the last step may be told just after the gauges say that nothing is left.
    const bool idle = gauges.queued + gauges.prefilling + gauges.decoding == 0;
    m_gauges.sample(std::move(taken), gauges, idle && m_wasIdle);
    m_wasIdle = idle;
    for (SampleRecord& complete : m_gauges.take(last)) {
        if (m_parts.writer != nullptr) m_parts.writer->sample(complete);
        if (m_parts.options.observer.sample) m_parts.options.observer.sample(complete);
        m_parts.data.samples.push_back(std::move(complete));
    }
}

void SessionRecorder::mark(Nanoseconds sinceStart, MarkKind kind, std::string text) {
    MarkRecord record{sinceStart, kind, std::move(text)};
    if (m_parts.writer != nullptr) m_parts.writer->mark(record);
    if (m_parts.options.observer.mark) m_parts.options.observer.mark(record);
    m_parts.data.marks.push_back(std::move(record));
}

}  // namespace firsttoken::sessions
