#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "app/cli/arguments.h"
#include "app/cli/chat_session.h"
#include "app/cli/sampling_options.h"
#include "sessions/models/files.h"

namespace firsttoken::app {

using engine::ErrorCode;

namespace {

constexpr std::uint64_t largestTemplate = 4ULL << 20;
constexpr WholeRange maxTokensRange = {0, std::numeric_limits<std::int32_t>::max()};

constexpr std::string_view help =
    "/new              start a new chat; the system prompt and the settings stay\n"
    "/system TEXT      set the system prompt; alone: show it; off: none\n"
    "/regenerate       answer the last turn again\n"
    "/template [FILE]  show the chat template in use, or take the one in a file; default: the model's\n"
    "/set [KEY VALUE]  show or change temperature, top_p, top_k, min_p, seed, max_tokens, …\n"
    "/profile          show the engine's settings as they are\n"
    "/stats            show what the engine holds\n"
    "/quit             leave (Ctrl-D too); Ctrl-C stops an answer\n"
    "//…               a turn that begins with a slash";

constexpr std::array<std::string_view, 10> commands = {"/new",     "/system", "/regenerate", "/template", "/set",
                                                       "/profile", "/stats",  "/help",       "/quit",     "/exit"};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

bool ChatSession::runCommand(const std::string& line, After& after) {
    const auto space = line.find_first_of(" \t");
    const auto name = line.substr(0, space);
    const std::string argument(space == line.npos ? std::string_view() : trimmed(std::string_view(line).substr(space)));
    const bool known = std::find(commands.begin(), commands.end(), name) != commands.end();
    if (!known) {
        // A pipe's lines are turns unless they are ours; a person may have mistyped.
        if (!m_dialogue || !line.starts_with('/') || line.starts_with("//")) return false;
        m_console.say(
            fmt::format("There is no command {}; /help lists them, and // begins a turn with a slash.", name));
        return true;
    }
    if (name == "/new") {
        m_conversation.startNew();
        endSession(sessions::SessionState::Completed);
        if (m_console.chatty()) m_console.mutter("New chat");
    } else if (name == "/system") {
        if (!argument.empty()) m_conversation.setSystemPrompt(argument == "off" ? "" : argument);
        const auto& prompt = m_conversation.systemPrompt();
        if (m_console.chatty()) m_console.mutter("System prompt: " + (prompt.empty() ? "none" : prompt));
    } else if (name == "/regenerate") {
        runTurn([this] { return m_conversation.regenerate(); });
    } else if (name == "/template") {
        showTemplate(argument);
    } else if (name == "/set") {
        setValue(argument);
    } else if (name == "/profile") {
        m_console.say(engine::toYaml(m_engine.effective().profile));
    } else if (name == "/stats") {
        showStats();
    } else if (name == "/help") {
        m_console.say(help);
    } else {
        after = After::Quit;
    }
    return true;
}

void ChatSession::setValue(std::string_view argument) {
    if (argument.empty()) return listSettings();
    const auto space = argument.find_first_of(" \t=");
    const auto key = argument.substr(0, space);
    const auto text = space == argument.npos ? std::string_view() : trimmed(argument.substr(space + 1));
    auto settings = m_conversation.settings();
    if (key == "max_tokens") {
        const auto value = parseWhole(key, text, maxTokensRange);
        if (!value) return failTurn(BadUsage, value.error().message);
        settings.maxTokens = *value;
    } else if (const auto set = setSampling(settings.sampling, key, key, text); !set) {
        return failTurn(BadUsage, set.error().message);
    }
    m_conversation.setSettings(std::move(settings));
    if (m_console.chatty()) m_console.mutter(fmt::format("{} {}", key, text));
}

void ChatSession::listSettings() {
    const auto& settings = m_conversation.settings();
    for (const auto& key : samplingKeys()) {
        m_console.say(
            fmt::format("{:<20}{:<10}{}", key.name, samplingText(settings.sampling, key.name), key.description));
    }
    const auto limit = settings.maxTokens == 0 ? "none" : grouped(static_cast<std::uint64_t>(settings.maxTokens));
    m_console.say(fmt::format("{:<20}{:<10}{}", "max_tokens", limit, "Of one reply; 0: up to the context's end"));
}

void ChatSession::showTemplate(const std::string& file) {
    auto settings = m_conversation.settings();
    if (file.empty()) {
        m_console.say(settings.chatTemplate.empty() ? m_engine.text().chatTemplate() : settings.chatTemplate);
        return;
    }
    if (file == "default") {
        settings.chatTemplate.clear();
    } else {
        auto text = sessions::readWholeFile(file, largestTemplate);
        if (!text) return failTurn(BadUsage, text.error().message);
        settings.chatTemplate = *std::move(text);
    }
    m_conversation.setSettings(std::move(settings));
    if (m_console.chatty()) m_console.mutter("Template: " + file);
}

void ChatSession::showStats() {
    const auto now = m_engine.snapshot();
    m_console.say(fmt::format("{} turns, {} messages in this chat", m_turns, m_conversation.messages().size()));
    m_console.say(fmt::format("KV blocks: {} of {} referenced, {} cached, {} free", now.blocksReferenced,
                              now.blocksTotal, now.blocksCached, now.blocksFree));
    m_console.say(fmt::format("Memory: weights {}, KV {}, work {}", byteText(now.weightBytes), byteText(now.kvBytes),
                              byteText(now.workBytes)));
    m_console.say(fmt::format("Requests: {} finished, {} cancelled, {} rejected, {} failed; {} steps, {} preemptions",
                              now.finished, now.cancelled, now.rejected, now.failed, now.steps, now.preemptions));
}

}  // namespace firsttoken::app
