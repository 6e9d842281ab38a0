#include "app/cli/chat_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <variant>

#include "app/cli/line_reader.h"
#include "app/cli/model_options.h"

namespace firsttoken::app {

using engine::Error;
using engine::ErrorCode;
using engine::FinishReason;
using engine::RequestState;
using engine::Status;

namespace {

constexpr std::size_t titleBytes = 80;
constexpr auto updateWait = std::chrono::milliseconds(50);
constexpr engine::Nanoseconds quietStartNs = 200'000'000;  ///< a faster answer needs no progress line

engine::Nanoseconds steadyNow() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// The first line of a chat's first turn, not too long.
std::string titleOf(const std::string& text) {
    std::string title = oneLine(text.substr(0, text.find('\n')));
    if (title.size() <= titleBytes) return title;
    std::size_t end = titleBytes;
    while (end > 0 && (static_cast<unsigned char>(title[end]) & 0xC0U) == 0x80U) --end;
    return title.substr(0, end) + "…";
}

/// The most KV blocks that a step has left referenced since then.
std::uint32_t blocksHeldSince(const engine::Engine& engine, engine::Nanoseconds startNs) {
    std::uint32_t most = 0;
    for (const auto& event : engine.events(0).events) {
        const auto* step = std::get_if<engine::StepEvent>(&event.what);
        if (step != nullptr && event.atNs >= startNs) most = std::max(most, step->blocksReferenced);
    }
    return most;
}

Json milliseconds(engine::Nanoseconds from, engine::Nanoseconds to) {
    if (from == 0 || to == 0) return {};
    return static_cast<double>(to - from) / 1e6;
}

}  // namespace

std::string replyFigures(const sessions::Reply& reply) {
    std::string line;
    if (const auto ttft = reply.ttftMs()) line += fmt::format("TTFT {:.0f} ms · ", *ttft);
    if (const auto rate = reply.tokensPerS()) line += fmt::format("{:.1f} tok/s · ", *rate);
    line += grouped(reply.promptTokens) + " prompt";
    if (reply.cachedTokens != 0) line += fmt::format(" ({} cached)", grouped(reply.cachedTokens));
    line += fmt::format(" · {} output · {}", grouped(reply.outputTokens), engine::toString(reply.reason));
    if (reply.droppedMessages != 0) line += fmt::format(" · {} oldest messages left out", reply.droppedMessages);
    return line;
}

ChatSession::ChatSession(Console& console, Interrupts& interrupts, engine::Engine& engine,
                         sessions::ChatSettings settings, std::string systemPrompt)
    : m_console(console), m_interrupts(interrupts), m_engine(engine), m_conversation(engine, std::move(settings)) {
    m_conversation.setSystemPrompt(std::move(systemPrompt));
}

int ChatSession::runOnce(const std::string& prompt) {
    runTurn([&] { return m_conversation.send(prompt); });
    endSession(m_cancelled ? sessions::SessionState::Cancelled : sessions::SessionState::Completed);
    return m_code;
}

int ChatSession::runLines() {
    m_lines = true;
    m_dialogue = m_console.inputIsTerminal();
    const int code = readLines();
    endSession(code == Interrupted ? sessions::SessionState::Cancelled : sessions::SessionState::Completed);
    return code;
}

int ChatSession::readLines() {
    LineReader reader(m_interrupts.descriptor());
    std::string line;
    while (!m_console.outputFault()) {
        if (m_dialogue) std::cerr << "> " << std::flush;
        const auto outcome = reader.read(line);
        if (outcome == LineReader::Outcome::Line) {
            if (runLine(line) == After::Quit) break;
            continue;
        }
        if (outcome == LineReader::Outcome::TooLong) return m_console.fail(BadUsage, "a line of stdin is too long");
        if (m_dialogue) std::cerr << "\n";
        if (outcome == LineReader::Outcome::Interrupted && !m_dialogue) m_code = Interrupted;
        break;
    }
    // What failed in a dialogue was seen and answered there.
    return m_dialogue ? static_cast<int>(Success) : m_code;
}

ChatSession::After ChatSession::runLine(const std::string& line) {
    if (line.find_first_not_of(" \t") == line.npos) return After::Continue;
    auto after = After::Continue;
    if (runCommand(line, after)) return after;
    // A second slash lets a turn begin with one.
    const auto text = line.starts_with("//") ? line.substr(1) : line;
    runTurn([&] { return m_conversation.send(text); });
    const bool stopped = m_interrupts.ending() || (m_cancelled && !m_dialogue);
    return stopped ? After::Quit : After::Continue;
}

void ChatSession::runTurn(const std::function<Status()>& start) {
    m_printed = 0;
    m_cancelled = false;
    m_turnStartNs = steadyNow();
    const auto started = start();
    if (!started) return reject(started.error());
    beginSession();
    follow();
    record();
    const auto& reply = m_conversation.reply();
    if (reply.reason == FinishReason::Rejected) return reject({ErrorCode::Rejected, reply.detail});
    if (reply.reason == FinishReason::Error) return failTurn(Failed, reply.detail);
    ++m_turns;
    showReply();
    if (reply.reason == FinishReason::Cancelled && m_code == Success) m_code = Interrupted;
}

void ChatSession::follow() {
    while (m_conversation.busy()) {
        const bool news = m_conversation.wait(updateWait);
        if (m_recorder) m_recorder->tick();
        if (m_interrupts.requested()) cancel();
        if (m_console.outputFault()) m_conversation.cancel();
        const auto& reply = m_conversation.reply();
        if (m_console.json || (news && reply.text.size() == m_printed) || !news) {
            showProgress();
            continue;
        }
        m_console.print(std::string_view(reply.text).substr(m_printed));
        m_printed = reply.text.size();
    }
    m_console.status({});
}

void ChatSession::beginSession() {
    if (m_store == nullptr || m_recorder) return;
    const auto& messages = m_conversation.messages();
    auto begun =
        sessions::ChatRecorder::begin(m_engine, *m_store, titleOf(messages.empty() ? "" : messages.back().content));
    if (begun) {
        m_recorder = std::move(begun).value();
    } else {
        m_console.say("This chat is not kept: " + begun.error().message);
        m_store = nullptr;
    }
}

void ChatSession::record() {
    if (!m_recorder) return;
    std::string prompt;
    for (const auto& message : m_conversation.messages()) {
        if (message.role == "user") prompt = message.content;
    }
    m_recorder->turn(prompt, m_conversation.reply());
}

void ChatSession::endSession(sessions::SessionState state) {
    if (!m_recorder) return;
    const auto ended = m_recorder->end(state);
    if (!ended) m_console.say("Not all of this chat was kept: " + ended.error().message);
    m_recorder.reset();
}

void ChatSession::cancel() {
    m_interrupts.take();
    if (m_cancelled) return;
    m_cancelled = true;
    m_cancelNs = steadyNow();
    m_conversation.cancel();
}

void ChatSession::showProgress() {
    const auto& reply = m_conversation.reply();
    const auto waited = steadyNow() - m_turnStartNs;
    if (!m_conversation.busy() || m_printed != 0 || waited < quietStartNs) return;
    const auto seconds = static_cast<double>(waited) / 1e9;
    if (m_cancelled) {
        m_console.status(fmt::format("Stopping · {:.1f} s", seconds));
    } else if (reply.state == RequestState::Queued) {
        m_console.status(fmt::format("Queued, place {} · {:.1f} s", reply.queuePlace, seconds));
    } else if (reply.state == RequestState::Prefilling) {
        m_console.status(fmt::format("Prefilling {} of {} · {:.1f} s", grouped(reply.prefilledTokens),
                                     grouped(reply.promptTokens), seconds));
    } else {
        m_console.status(fmt::format("Decoding {} · {:.1f} s", grouped(reply.outputTokens), seconds));
    }
}

void ChatSession::showReply() {
    const auto& reply = m_conversation.reply();
    if (m_console.json) {
        m_console.printJson(replyJson());
    } else {
        if (m_printed < reply.text.size()) m_console.print(std::string_view(reply.text).substr(m_printed));
        if (!reply.text.ends_with('\n')) m_console.print("\n");
    }
    if (m_console.chatty()) m_console.mutter(replyFigures(reply));
    if (m_cancelled) showFreed();
}

void ChatSession::showFreed() {
    if (!m_console.chatty()) return;
    const auto held = blocksHeldSince(m_engine, m_turnStartNs);
    const auto after = m_engine.snapshot();
    const auto freed = held - std::min(held, after.blocksReferenced);
    const auto stopMs = static_cast<double>(m_conversation.reply().times.endNs - m_cancelNs) / 1e6;
    m_console.mutter(fmt::format("Stopped in {:.0f} ms: {} KV blocks freed, {} still referenced, {} kept for reuse",
                                 std::max(stopMs, 0.0), freed, after.blocksReferenced, after.blocksCached));
}

/// What the engine would not run. In a list of lines the turn has its object all the same, so that lines and objects
/// correspond.
void ChatSession::reject(const Error& error) {
    const bool full = error.code == ErrorCode::DoesNotFit || error.code == ErrorCode::Rejected;
    if (m_lines && m_console.json && full) {
        auto object = replyJson();
        object["text"] = "";
        object["finish_reason"] = "rejected";
        object["error"] = error.message;
        m_console.printJson(object);
    }
    failTurn(exitCode(error.code), error.message);
}

void ChatSession::failTurn(int code, const std::string& sentence) {
    m_console.fail(code, sentence);
    if (m_code == Success) m_code = code;
}

Json ChatSession::replyJson() const {
    const auto& reply = m_conversation.reply();
    const auto& times = reply.times;
    const auto& settings = m_conversation.settings();
    Json value = {{"text", reply.text},
                  {"finish_reason", engine::toString(reply.reason)},
                  {"prompt_tokens", reply.promptTokens},
                  {"cached_tokens", reply.cachedTokens},
                  {"prefilled_tokens", reply.prefilledTokens},
                  {"output_tokens", reply.outputTokens}};
    value["ttft_ms"] = orNull(reply.ttftMs());
    value["tpot_ms"] = orNull(reply.tpotMs());
    value["e2e_ms"] = milliseconds(times.plannedNs, times.endNs);
    value["queue_ms"] = milliseconds(times.submittedNs, times.firstScheduledNs);
    value["prefill_ms"] = milliseconds(times.firstScheduledNs, times.prefillEndNs);
    value["tokens_per_s"] = orNull(reply.tokensPerS());
    value["session"] = m_recorder ? Json(m_recorder->id()) : Json();
    if (reply.reason == FinishReason::Stop) value["stop_string"] = reply.detail.empty() ? Json() : Json(reply.detail);
    value["dropped_messages"] = reply.droppedMessages;
    value["preemptions"] = reply.preemptions;
    value["max_tokens"] = settings.maxTokens == 0 ? Json() : Json(settings.maxTokens);
    value["temperature"] = settings.sampling.temperature;
    value["seed"] = orNull(settings.sampling.seed);
    value["context"] = m_conversation.context();
    value["model"] = m_engine.model().path;
    value["profile"] = m_engine.requestedProfile().name;
    value["changes"] = changesJson(m_engine.effective().changes);
    value["isa"] = m_engine.isa();
    value["arithmetic"] = m_engine.arithmetic();
    return value;
}

}  // namespace firsttoken::app
