#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "engine/engine.h"

namespace firsttoken::sessions {

/// An answer as far as it has come; complete once `reason` is not None.
struct Reply {
    engine::RequestId request = 0;
    engine::RequestState state = engine::RequestState::Queued;
    std::string text;
    engine::FinishReason reason = engine::FinishReason::None;
    std::string detail;  ///< for Rejected and Error: the sentence; for Stop: the stop string, if any
    std::uint32_t promptTokens = 0;
    std::uint32_t cachedTokens = 0;  ///< of promptTokens, from the prefix cache
    std::uint32_t prefilledTokens = 0;
    std::uint32_t outputTokens = 0;
    std::uint32_t queuePlace = 0;  ///< 1 = next; while queued
    std::uint32_t preemptions = 0;
    std::size_t droppedMessages = 0;  ///< oldest messages left out of the prompt
    engine::RequestTimes times;

    bool finished() const { return reason != engine::FinishReason::None; }
    std::optional<double> ttftMs() const;      ///< none: no text was delivered
    std::optional<double> tpotMs() const;      ///< none for fewer than two tokens
    std::optional<double> tokensPerS() const;  ///< of the decode phase: 1000 / tpotMs

    void add(const engine::RequestUpdate& update);
};

/// Hands one request's updates from the engine's loop thread to one reader. Updates that the reader has not taken
/// yet are merged into one, so that its size is bounded by the answer's.
class UpdateQueue {
public:
    /// Never blocks for long. Any thread.
    void push(const engine::RequestUpdate& update);
    /// Waits at most `wait`; none: nothing new came. The reader's thread.
    std::optional<engine::RequestUpdate> take(std::chrono::milliseconds wait);

private:
    std::mutex m_mutex;
    std::condition_variable m_came;
    std::optional<engine::RequestUpdate> m_pending;
};

}  // namespace firsttoken::sessions
