#pragma once

#include <map>
#include <set>
#include <vector>

#include "sessions/load/load_target.h"
#include "tests/sessions/load/fake_clock.h"

namespace firsttoken::tests {

/// An engine whose every moment is written down: all requests at once, the first token after `firstNs`, the others
/// every `gapNs`; nothing is delivered within the stall.
class ScriptedTarget final : public sessions::LoadTarget {
public:
    explicit ScriptedTarget(FakeClock& clock) : m_clock(clock) {}

    engine::Nanoseconds firstNs = 10'000'000, gapNs = 1'000'000, cancelNs = 500'000;
    engine::Nanoseconds stallFromNs = 0, stallToNs = 0;
    bool tellsEnd = true;
    std::set<engine::RequestId> rejected;  ///< by the order of submitting, from 1

    struct Seen {
        engine::Nanoseconds atNs = 0;
        Submission submission;
    };
    std::vector<Seen> seen;
    std::map<engine::RequestId, int> disconnects, cancels, ends;
    std::size_t inFlight = 0, mostInFlight = 0;

    engine::RequestId submit(Submission submission, engine::UpdateSink sink) override {
        seen.push_back({m_clock.now(), submission});
        const engine::RequestId id = seen.size();
        mostInFlight = std::max(mostInFlight, ++inFlight);
        Running& running = m_running[id];
        running.sink = std::move(sink);
        running.maxTokens = submission.maxTokens;
        running.promptTokens = submission.prompt.size();
        running.times.submittedNs = m_clock.now();
        if (rejected.count(id) > 0) {
            finish(id, engine::FinishReason::Rejected, "the queue is full");  // before this returns, as it may
        } else {
            m_clock.at(m_clock.now() + firstNs, [this, id] { token(id); });
        }
        return id;
    }
    void cancel(engine::RequestId id) override {
        ++cancels[id];
        m_clock.at(m_clock.now() + cancelNs, [this, id] { finish(id, engine::FinishReason::Cancelled, {}); });
    }
    void disconnect(engine::RequestId id) override {
        ++disconnects[id];
        if (tellsEnd)
            m_clock.at(m_clock.now() + cancelNs, [this, id] { finish(id, engine::FinishReason::Cancelled, {}); });
    }
    bool tellsEndAfterDisconnect() const override { return tellsEnd; }
    engine::EngineSnapshot snapshot() const override { return {}; }

private:
    struct Running {
        engine::UpdateSink sink;
        engine::RequestTimes times;
        std::int64_t maxTokens = 0, output = 0;
        std::size_t promptTokens = 0;
    };
    engine::RequestUpdate updateOf(engine::RequestId id, const Running& running) const {
        engine::RequestUpdate update;
        update.request = id;
        update.atNs = m_clock.now();
        update.state = engine::RequestState::Decoding;
        update.promptTokens = static_cast<std::uint32_t>(running.promptTokens);
        update.outputTokens = static_cast<std::uint32_t>(running.output);
        update.times = running.times;
        return update;
    }
    void token(engine::RequestId id) {
        const auto found = m_running.find(id);
        if (found == m_running.end()) return;
        Running& running = found->second;
        const engine::Nanoseconds now = m_clock.now();
        if (now >= stallFromNs && now < stallToNs) return m_clock.at(stallToNs, [this, id] { token(id); });
        if (running.output == 0) running.times.firstScheduledNs = running.times.prefillEndNs = now;
        ++running.output;
        engine::RequestUpdate update = updateOf(id, running);
        update.text = "x";
        running.sink(update);
        if (running.output == running.maxTokens) return finish(id, engine::FinishReason::Length, {});
        m_clock.at(now + gapNs, [this, id] { token(id); });
    }
    void finish(engine::RequestId id, engine::FinishReason reason, const std::string& detail) {
        const auto found = m_running.find(id);
        if (found == m_running.end()) return;
        const Running running = std::move(found->second);
        m_running.erase(found);
        --inFlight;
        ++ends[id];
        engine::RequestUpdate update = updateOf(id, running);
        update.state = engine::RequestState::Finished;
        update.reason = reason;
        update.detail = detail;
        update.times.endNs = m_clock.now();
        running.sink(update);
    }

    FakeClock& m_clock;
    std::map<engine::RequestId, Running> m_running;
};

}  // namespace firsttoken::tests
