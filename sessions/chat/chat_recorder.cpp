#include "sessions/chat_recorder.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "sessions/load/gauge_series.h"
#include "sessions/load/session_header.h"
#include "sessions/models/sha256.h"

namespace firsttoken::sessions {

using engine::Nanoseconds;

namespace {

constexpr Nanoseconds samplePeriodNs = 100'000'000;

Nanoseconds steadyNow() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double unixSeconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The hash of a file that the store does not know yet, computed beside the chat.
class BackgroundHash {
public:
    explicit BackgroundHash(std::string path)
        : m_thread([this, file = std::move(path)](const std::stop_token& stop) {
              if (const auto hash = sha256OfFile(file, stop)) m_hash = *hash;
          }) {}
    /// What was found until now; stops what is still being read.
    std::string take() {
        m_thread.request_stop();
        m_thread.join();
        return m_hash;
    }

private:
    std::string m_hash;
    std::jthread m_thread;
};

class Recorder final : public ChatRecorder {
public:
    Recorder(const engine::Engine& engine, SessionStore& store, std::unique_ptr<SessionWriter> writer,
             const SessionHeader& header)
        : m_engine(engine),
          m_store(store),
          m_writer(std::move(writer)),
          m_startNs(header.clockStartNs),
          m_modelPath(header.modelPath),
          m_nextSampleNs(header.clockStartNs),
          m_gauges(0) {
        skipEvents();
        if (header.modelHash.empty()) m_hash.emplace(header.modelPath);
    }

    SessionId id() const override { return m_writer->id(); }

    void tick() override {
        const Nanoseconds now = steadyNow();
        if (now < m_nextSampleNs) return;
        m_nextSampleNs = now + samplePeriodNs;
        sample(now, false);
    }

    void turn(const std::string& prompt, const Reply& reply) override {
        RequestRecord record = recordOf(prompt, reply);
        drain(&record, reply.request);
        m_writer->request(std::move(record));
        sample(steadyNow(), true);
    }

    void mark(MarkKind kind, const std::string& text) override {
        m_writer->mark({steadyNow() - m_startNs, kind, text});
    }

    engine::Status end(SessionState state) override {
        if (m_hash) {
            const std::string hash = m_hash->take();
            if (!hash.empty()) {
                m_writer->setModelHash(hash);
                m_store.cacheModelHash(m_modelPath, hash);
            }
            m_hash.reset();
        }
        return m_writer->end(state);
    }

private:
    std::optional<Nanoseconds> onAxis(Nanoseconds clockNs) const {
        if (clockNs == 0) return std::nullopt;
        return clockNs - m_startNs;
    }

    RequestRecord recordOf(const std::string& prompt, const Reply& reply) {
        RequestRecord record;
        record.number = ++m_turns;
        record.plannedNs = reply.times.plannedNs - m_startNs;
        record.sentNs = onAxis(reply.times.submittedNs);
        record.scheduledNs = onAxis(reply.times.firstScheduledNs);
        record.prefillEndNs = onAxis(reply.times.prefillEndNs);
        record.firstTokenNs = onAxis(reply.times.firstTokenNs);
        record.endNs = onAxis(reply.times.endNs);
        record.promptTokens = reply.promptTokens;
        record.cachedTokens = reply.cachedTokens;
        record.outputTokens = reply.outputTokens;
        record.preemptions = reply.preemptions;
        record.reason = reply.reason;
        record.detail = reply.detail;
        record.prompt = prompt;
        record.output = reply.text;
        return record;
    }

    /// What the engine did before is not this chat's.
    void skipEvents() {
        for (;;) {
            const engine::EventBatch batch = m_engine.events(m_nextEvent);
            m_nextEvent = batch.next;
            if (batch.events.empty()) return;
        }
    }

    /// Takes the engine's events: steps for the gauges, and of `request` its spans and the times of its tokens.
    void drain(RequestRecord* record, engine::RequestId request) {
        for (;;) {
            const engine::EventBatch batch = m_engine.events(m_nextEvent);
            m_nextEvent = batch.next;
            if (batch.dropped > 0) m_gauges.stepsLost();
            for (const engine::Event& event : batch.events) {
                if (const auto* step = std::get_if<engine::StepEvent>(&event.what)) {
                    m_gauges.step(event.atNs - m_startNs, *step);
                } else {
                    m_pending.push_back(event);
                }
            }
            if (batch.events.empty()) break;
        }
        if (record == nullptr) return;
        for (const engine::Event& event : m_pending) {
            const auto* token = std::get_if<engine::TokenEvent>(&event.what);
            const auto* span = std::get_if<engine::SpanEvent>(&event.what);
            if (token != nullptr && token->request == request) record->deltaNs.push_back(event.atNs - m_startNs);
            if (span != nullptr && span->request == request) {
                m_writer->span({record->number, span->stage, span->startNs - m_startNs, span->endNs - m_startNs});
            }
        }
        m_pending.clear();
        keepDelivered(*record);
    }

    /// Deltas lie between the first text and the end; tokens whose text was held back until later are not deltas.
    static void keepDelivered(RequestRecord& record) {
        if (!record.firstTokenNs) {
            record.deltaNs.clear();
            return;
        }
        std::erase_if(record.deltaNs, [&](Nanoseconds at) { return at <= *record.firstTokenNs; });
        record.deltaNs.insert(record.deltaNs.begin(), *record.firstTokenNs);
    }

    void sample(Nanoseconds now, bool last) {
        const engine::EngineSnapshot gauges = m_engine.snapshot();
        drain(nullptr, 0);
        SampleRecord taken;
        taken.atNs = now - m_startNs;
        m_gauges.sample(std::move(taken), gauges, gauges.queued + gauges.prefilling + gauges.decoding == 0);
        for (SampleRecord& complete : m_gauges.take(last)) m_writer->sample(std::move(complete));
    }

    const engine::Engine& m_engine;
    SessionStore& m_store;
    std::unique_ptr<SessionWriter> m_writer;
    Nanoseconds m_startNs;
    std::string m_modelPath;
    Nanoseconds m_nextSampleNs;
    GaugeSeries m_gauges;
    std::uint64_t m_nextEvent = 0;
    std::int64_t m_turns = 0;
    std::vector<engine::Event> m_pending;  ///< since the last turn, without steps
    std::optional<BackgroundHash> m_hash;
};

}  // namespace

engine::Result<std::unique_ptr<ChatRecorder>> ChatRecorder::begin(const engine::Engine& engine, SessionStore& store,
                                                                  const std::string& title) {
    SessionHeader header = headerOf(engine);
    header.kind = SessionKind::Chat;
    header.title = title;
    header.startedAt = unixSeconds();
    header.clockStartNs = steadyNow();
    header.modelHash = store.cachedModelHash(header.modelPath).value_or("");
    auto writer = store.begin(header);
    if (!writer) return writer.error();
    return std::unique_ptr<ChatRecorder>(std::make_unique<Recorder>(engine, store, std::move(writer).value(), header));
}

}  // namespace firsttoken::sessions
