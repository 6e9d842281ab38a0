#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/cli/console.h"
#include "app/cli/interrupts.h"
#include "engine/engine.h"
#include "sessions/chat_recorder.h"
#include "sessions/conversation.h"
#include "sessions/session_store.h"

namespace firsttoken::app {

/// One chat on the command line: a single turn, or lines of stdin until they end. Main thread.
class ChatSession {
public:
    ChatSession(Console& console, Interrupts& interrupts, engine::Engine& engine, sessions::ChatSettings settings,
                std::string systemPrompt);
    /// The chat is kept as a session from its first turn on; `store` must outlive this. Without it nothing is kept.
    void keepIn(sessions::SessionStore& store) { m_store = &store; }

    /// One turn; a turn that fails is the program's failure. Returns the exit code.
    int runOnce(const std::string& prompt);
    /// Every line a turn or a command. At a terminal a dialogue; otherwise a failed turn has its object (with --json)
    /// and its sentence, the next line goes on, and the exit code is the first failure's.
    int runLines();

private:
    enum class After { Continue, Quit };

    After runLine(const std::string& line);
    void runTurn(const std::function<engine::Status()>& start);
    /// Runs the reply in flight to its end: text, progress, cancel.
    void follow();
    void cancel();
    void showProgress();
    void showReply();
    void showFreed();
    void reject(const engine::Error& error);
    void failTurn(int code, const std::string& sentence);
    Json replyJson() const;
    int readLines();
    /// A chat is a session from its first turn that the engine took.
    void beginSession();
    void record();
    /// Ends the stored session: a new chat is a new one.
    void endSession(sessions::SessionState state);

    // chat_commands.cpp
    /// False if the line is no command but a turn.
    bool runCommand(const std::string& line, After& after);
    void setValue(std::string_view argument);
    void listSettings();
    void showTemplate(const std::string& file);
    void showStats();

    Console& m_console;
    Interrupts& m_interrupts;
    engine::Engine& m_engine;
    sessions::Conversation m_conversation;
    bool m_lines = false;       ///< more than one turn
    bool m_dialogue = false;    ///< stdin is a terminal
    int m_code = Success;       ///< of the first turn that failed
    std::size_t m_printed = 0;  ///< bytes of the reply that stdout has
    bool m_cancelled = false;
    engine::Nanoseconds m_turnStartNs = 0;
    engine::Nanoseconds m_cancelNs = 0;
    std::uint64_t m_turns = 0;
    sessions::SessionStore* m_store = nullptr;
    std::unique_ptr<sessions::ChatRecorder> m_recorder;
};

/// "TTFT 212 ms · 41.3 tok/s · 180 prompt (128 cached) · 96 output · stop"
std::string replyFigures(const sessions::Reply& reply);

}  // namespace firsttoken::app
