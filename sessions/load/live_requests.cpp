#include "sessions/load/live_requests.h"

#include <algorithm>
#include <string>

#include "engine/statistics.h"

namespace firsttoken::sessions {

using engine::FinishReason;
using engine::Nanoseconds;
using engine::RequestId;
using engine::RequestUpdate;

namespace {

constexpr Nanoseconds percentileAgeNs = 500'000'000;
constexpr double nsPerMs = 1e6;
constexpr double nsPerS = 1e9;
constexpr std::int64_t mostReserved = 4096;  ///< deltas that room is made for beforehand

}  // namespace

LiveRequests::LiveRequests(LoadClock& clock, Nanoseconds startNs, std::size_t outputTextBytes)
    : m_clock(clock), m_startNs(startNs), m_outputTextLeft(outputTextBytes) {
    m_progress.phase = LoadPhase::Running;
}

void LiveRequests::add(RequestRecord record, std::int64_t outputTokens, std::int64_t hangUpAfter) {
    record.deltaNs.reserve(static_cast<std::size_t>(std::min(outputTokens, mostReserved)));
    const std::lock_guard lock(m_mutex);
    ++m_progress.sent;
    ++m_progress.running;
    m_progress.promptTokens += record.promptTokens;
    Live live;
    live.hangUpAfter = hangUpAfter;
    const std::int64_t number = record.number;
    live.record = std::move(record);
    m_live.emplace(number, std::move(live));
}

void LiveRequests::setId(std::int64_t number, RequestId id) {
    const std::lock_guard lock(m_mutex);
    m_news.numbers.emplace_back(id, number);
    const auto found = m_live.find(number);
    if (found != m_live.end()) found->second.id = id;
}

void LiveRequests::copyTimes(RequestRecord& record, const engine::RequestTimes& times) const {
    if (times.submittedNs != 0) record.sentNs = times.submittedNs - m_startNs;
    if (times.firstScheduledNs != 0) record.scheduledNs = times.firstScheduledNs - m_startNs;
    if (times.prefillEndNs != 0) record.prefillEndNs = times.prefillEndNs - m_startNs;
}

void LiveRequests::deliver(Live& live, const RequestUpdate& update) {
    RequestRecord& record = live.record;
    m_progress.outputTokens += std::int64_t{update.outputTokens} - record.outputTokens;
    record.outputTokens = update.outputTokens;
    if (update.text.empty()) return;
    const Nanoseconds at = update.atNs - m_startNs;
    record.deltaNs.push_back(at);
    if (!record.firstTokenNs) {
        record.firstTokenNs = at;
        m_ttftMs.push_back(static_cast<double>(at - record.plannedNs) / nsPerMs);
    }
    if (update.text.size() <= m_outputTextLeft) {
        m_outputTextLeft -= update.text.size();
        record.output += update.text;
    } else {
        m_outputTextLeft = 0;  // no answer with a hole in it
    }
}

void LiveRequests::update(std::int64_t number, const RequestUpdate& update) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_live.find(number);
    if (found == m_live.end()) return;
    Live& live = found->second;
    live.changed = true;
    copyTimes(live.record, update.times);
    live.record.cachedTokens = update.cachedTokens;
    live.record.preemptions = update.preemptions;
    if (!live.leaving) deliver(live, update);
    if (update.state == engine::RequestState::Finished) {
        const Nanoseconds endNs = update.times.endNs != 0 ? update.times.endNs : update.atNs;
        end(number, update.reason, update.detail, endNs - m_startNs);
        m_clock.wake();
    } else if (live.hangUpAfter > 0 && !live.leaving && live.record.outputTokens >= live.hangUpAfter) {
        live.leaving = true;
        live.record.hungUp = true;
        m_hangUps.push_back(number);
        m_clock.wake();
    }
}

void LiveRequests::endUntold(std::int64_t number, Nanoseconds now) {
    const std::lock_guard lock(m_mutex);
    end(number, FinishReason::Cancelled, {}, now - m_startNs);
}

/// Pre: locked.
void LiveRequests::end(std::int64_t number, FinishReason reason, std::string detail, Nanoseconds endNs) {
    const auto found = m_live.find(number);
    if (found == m_live.end()) return;
    RequestRecord record = std::move(found->second.record);
    m_live.erase(found);
    record.endNs = endNs;
    // Whether the target noticed in time or not: to the client who left, the request was cut off.
    record.reason = record.hungUp ? FinishReason::Cancelled : reason;
    record.detail = record.hungUp ? "the client hung up" : std::move(detail);
    --m_progress.running;
    ++m_progress.done;
    const bool completed = record.reason == FinishReason::Stop || record.reason == FinishReason::Length;
    ++(completed                                  ? m_progress.completed
       : record.reason == FinishReason::Cancelled ? m_progress.cancelled
                                                  : m_progress.failed);
    m_ends.emplace_back(number, endNs);
    m_news.ended.push_back(std::move(record));
}

void LiveRequests::setWarmupEnd(Nanoseconds sinceStart) {
    const std::lock_guard lock(m_mutex);
    m_news.warmupEndNs = sinceStart;
}

LiveRequests::Signals LiveRequests::takeSignals() {
    const std::lock_guard lock(m_mutex);
    Signals taken;
    // The ids are looked up only now: the first update may come before submit() has returned one.
    for (const std::int64_t number : std::exchange(m_hangUps, {})) {
        const auto found = m_live.find(number);
        if (found != m_live.end()) taken.hangUps.emplace_back(number, found->second.id);
    }
    taken.ends = std::exchange(m_ends, {});
    return taken;
}

std::vector<RequestId> LiveRequests::inFlight() const {
    const std::lock_guard lock(m_mutex);
    std::vector<RequestId> ids;
    for (const auto& [number, live] : m_live) ids.push_back(live.id);
    return ids;
}

bool LiveRequests::settled() const {
    const std::lock_guard lock(m_mutex);
    return m_live.empty() && m_hangUps.empty() && m_ends.empty();
}

LoadNews LiveRequests::takeNews() {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_news, {});
}

std::vector<RequestRecord> LiveRequests::unfinished() {
    const std::lock_guard lock(m_mutex);
    std::vector<RequestRecord> records;
    for (auto& [number, live] : m_live) {
        if (std::exchange(live.changed, false)) records.push_back(live.record);
    }
    return records;
}

/// Pre: not locked.
void LiveRequests::refreshPercentiles(Nanoseconds now) {
    std::vector<double> values;
    {
        const std::lock_guard lock(m_mutex);
        if (m_ttftMs.size() == m_ttftsSeen) return;
        if (m_ttftsSeen > 0 && now - m_percentilesAtNs < percentileAgeNs) return;
        values = m_ttftMs;
        m_ttftsSeen = values.size();
        m_percentilesAtNs = now;
    }
    const auto p50 = engine::percentile(values, 0.5);
    const auto p95 = engine::percentile(values, 0.95);
    const std::lock_guard lock(m_mutex);
    m_progress.ttftP50Ms = p50;
    m_progress.ttftP95Ms = p95;
}

LoadProgress LiveRequests::progress() {
    const Nanoseconds now = m_clock.now();
    refreshPercentiles(now);
    const std::lock_guard lock(m_mutex);
    LoadProgress progress = m_progress;
    progress.elapsedNs = std::max<Nanoseconds>(now - m_startNs, 0);
    if (progress.elapsedNs > 0 && progress.outputTokens > 0) {
        progress.outputTokensPerS =
            static_cast<double>(progress.outputTokens) * nsPerS / static_cast<double>(progress.elapsedNs);
    }
    return progress;
}

}  // namespace firsttoken::sessions
