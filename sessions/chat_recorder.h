#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"
#include "engine/result.h"
#include "sessions/reply.h"
#include "sessions/session_store.h"

namespace firsttoken::sessions {

/// Keeps a chat with one engine as a session: a request a turn with its times, spans and text, gauges while it runs,
/// marks. Calls come from one thread, the conversation's. Engine and store must outlive it.
class ChatRecorder {
public:
    /// Errors: as SessionStore::begin.
    static engine::Result<std::unique_ptr<ChatRecorder>> begin(const engine::Engine& engine, SessionStore& store,
                                                               const std::string& title);
    virtual ~ChatRecorder() = default;  ///< a chat that was not ended counts as interrupted

    virtual SessionId id() const = 0;
    /// While a reply is in flight, as often as convenient: samples the gauges at most ten times a second.
    virtual void tick() = 0;
    /// A reply that has ended, with the turn that it answers.
    virtual void turn(const std::string& prompt, const Reply& reply) = 0;
    virtual void mark(MarkKind kind, const std::string& text) = 0;
    /// Errors: Io where the disk refused.
    virtual engine::Status end(SessionState state) = 0;
};

}  // namespace firsttoken::sessions
