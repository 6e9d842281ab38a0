#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/result.h"
#include "sessions/reply.h"

namespace firsttoken::sessions {

struct ChatSettings {
    engine::SamplingSettings sampling;
    std::int64_t maxTokens = 0;            ///< of one reply; 0: up to the context's end
    std::vector<std::string> stopStrings;  ///< besides those that the template implies
    std::string chatTemplate;              ///< empty: the model's
    engine::TrimPolicy trim = engine::TrimPolicy::Refuse;
    std::string cacheSalt;
};

/// One chat with one engine: its turns, and at most one reply in flight. Owned by one thread; only the engine's
/// updates come from another, through a queue. The engine must outlive it.
///
/// A turn whose request was rejected or failed, or was cancelled before any text, is taken back: the next one
/// starts from the state before it.
class Conversation {
public:
    Conversation(engine::Engine& engine, ChatSettings settings);
    /// Cancels a reply in flight.
    ~Conversation();
    Conversation(const Conversation&) = delete;
    Conversation& operator=(const Conversation&) = delete;

    const ChatSettings& settings() const { return m_settings; }
    /// For the following replies.
    void setSettings(ChatSettings settings);
    const std::string& systemPrompt() const { return m_systemPrompt; }
    void setSystemPrompt(std::string text) { m_systemPrompt = std::move(text); }
    /// The turns without the system prompt, also those that are no longer sent.
    const std::vector<engine::ChatMessage>& messages() const { return m_messages; }
    std::size_t context() const;  ///< tokens of prompt and output together

    /// Forgets the turns; system prompt and settings stay. Pre: not busy.
    void startNew();
    /// Starts the reply to a new user turn. Pre: not busy. Errors: DoesNotFit (over the context, with the numbers),
    /// BadInput (a template's error).
    engine::Status send(std::string text);
    /// Drops the last reply and starts another to the same turn. Pre: not busy. Errors: NotFound (no turn yet), and
    /// as send(); the old reply then stays.
    engine::Status regenerate();

    bool busy() const { return m_updates != nullptr; }
    /// Waits at most `wait` for news of the reply in flight; true if reply() has changed. After the last news
    /// busy() is false.
    bool wait(std::chrono::milliseconds wait);
    /// Any number of times; the end comes through wait().
    void cancel();
    const Reply& reply() const { return m_reply; }

private:
    engine::Status submit();
    engine::Result<engine::BuiltPrompt> buildPrompt();
    std::size_t promptBudget() const;
    void finish();

    engine::Engine& m_engine;
    ChatSettings m_settings;
    std::string m_systemPrompt;
    std::vector<engine::ChatMessage> m_messages;
    std::vector<engine::ChatMessage> m_before;  ///< the turns before the one in flight
    std::size_t m_dropped = 0;                  ///< messages from the start that are no longer sent
    std::shared_ptr<UpdateQueue> m_updates;     ///< of the reply in flight; shared with the engine's sink
    Reply m_reply;
};

}  // namespace firsttoken::sessions
