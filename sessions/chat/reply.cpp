#include "sessions/reply.h"

#include <utility>

namespace firsttoken::sessions {

namespace {

constexpr double nanosecondsPerMs = 1e6;

}  // namespace

std::optional<double> Reply::ttftMs() const {
    if (times.firstTokenNs == 0) return std::nullopt;
    return static_cast<double>(times.ttftNs()) / nanosecondsPerMs;
}

std::optional<double> Reply::tpotMs() const {
    if (times.firstTokenNs == 0 || times.endNs == 0 || outputTokens < 2) return std::nullopt;
    return static_cast<double>(times.endNs - times.firstTokenNs) / nanosecondsPerMs / (outputTokens - 1);
}

std::optional<double> Reply::tokensPerS() const {
    const auto tpot = tpotMs();
    if (!tpot || *tpot <= 0) return std::nullopt;
    return 1000.0 / *tpot;
}

void Reply::add(const engine::RequestUpdate& update) {
    request = update.request;
    state = update.state;
    text += update.text;
    reason = update.reason;
    detail = update.detail;
    promptTokens = update.promptTokens;
    cachedTokens = update.cachedTokens;
    prefilledTokens = update.prefilledTokens;
    outputTokens = update.outputTokens;
    queuePlace = update.queuePlace;
    preemptions = update.preemptions;
    times = update.times;
}

void UpdateQueue::push(const engine::RequestUpdate& update) {
    {
        const std::lock_guard lock(m_mutex);
        if (m_pending) {
            auto merged = update;
            merged.text = std::move(m_pending->text) + update.text;
            merged.tokens = std::move(m_pending->tokens);
            merged.tokens.insert(merged.tokens.end(), update.tokens.begin(), update.tokens.end());
            m_pending = std::move(merged);
        } else {
            m_pending = update;
        }
    }
    m_came.notify_one();
}

std::optional<engine::RequestUpdate> UpdateQueue::take(std::chrono::milliseconds wait) {
    std::unique_lock lock(m_mutex);
    m_came.wait_for(lock, wait, [this] { return m_pending.has_value(); });
    return std::exchange(m_pending, std::nullopt);
}

}  // namespace firsttoken::sessions
