#include "sessions/conversation.h"

#include <algorithm>

namespace firsttoken::sessions {

using engine::BuiltPrompt;
using engine::ChatMessage;
using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::FinishReason;
using engine::Result;
using engine::Status;
using engine::TrimPolicy;

namespace {

/// Room for the answer that dropping old turns keeps free where the caller set no limit.
constexpr std::size_t answerRoom = 512;

engine::Nanoseconds steadyNow() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

Conversation::Conversation(engine::Engine& engine, ChatSettings settings)
    : m_engine(engine), m_settings(std::move(settings)) {}

Conversation::~Conversation() { cancel(); }

void Conversation::setSettings(ChatSettings settings) { m_settings = std::move(settings); }

std::size_t Conversation::context() const {
    const auto given = m_engine.effective().profile.model.maxContextTokens.value_or(m_engine.model().contextLength);
    return static_cast<std::size_t>(std::max<std::int64_t>(given, 1));
}

void Conversation::startNew() {
    m_messages.clear();
    m_dropped = 0;
    m_reply = {};
}

Status Conversation::send(std::string text) {
    m_before = m_messages;
    m_messages.push_back({"user", std::move(text)});
    auto submitted = submit();
    if (!submitted) m_messages = m_before;
    return submitted;
}

Status Conversation::regenerate() {
    if (m_messages.empty()) return Error{ErrorCode::NotFound, "there is no turn to answer again"};
    m_before = m_messages;
    if (m_messages.back().role == "assistant") m_messages.pop_back();
    auto submitted = submit();
    if (!submitted) m_messages = m_before;
    return submitted;
}

/// A prompt may take all but one token of the context: the answer then ends with `length`. Where old turns may be
/// dropped there is a better choice, so there the answer's room is kept free.
std::size_t Conversation::promptBudget() const {
    const auto all = context();
    if (m_settings.trim == TrimPolicy::Refuse) return all - 1;
    const auto wanted = m_settings.maxTokens > 0 ? static_cast<std::size_t>(m_settings.maxTokens) : answerRoom;
    return all - std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(all / 4, 1));
}

Result<BuiltPrompt> Conversation::buildPrompt() {
    std::vector<ChatMessage> sent;
    if (!m_systemPrompt.empty()) sent.push_back({"system", m_systemPrompt});
    sent.insert(sent.end(), m_messages.begin() + static_cast<std::ptrdiff_t>(m_dropped), m_messages.end());
    const auto& text = m_engine.text();
    const auto budget = promptBudget();
    auto built = text.buildPrompt(sent, budget, m_settings.trim, m_settings.chatTemplate);
    if (!built || built->droppedMessages == 0) return built;
    // Dropping a little more than necessary lets the next turns share this prompt's prefix; dropping the least each
    // time would prefill the whole chat anew at every turn.
    auto roomier = text.buildPrompt(sent, budget / 4 * 3, m_settings.trim, m_settings.chatTemplate);
    if (roomier) built = std::move(roomier);
    m_dropped += built->droppedMessages;
    return built;
}

Status Conversation::submit() {
    const auto planned = steadyNow();  // the person's wait starts here: making the prompt is part of it
    auto built = buildPrompt();
    if (!built) return built.error();
    if (built->tokens.empty()) return Error{ErrorCode::BadInput, "the prompt is empty"};

    engine::Request request;
    request.prompt = std::move(built->tokens);
    request.sampling = m_settings.sampling;
    request.maxTokens = m_settings.maxTokens;
    request.stopStrings = m_settings.stopStrings;
    if (m_settings.chatTemplate.empty()) {
        const auto implied = m_engine.text().impliedStops();
        request.stopStrings.insert(request.stopStrings.end(), implied.begin(), implied.end());
    }
    request.cacheSalt = m_settings.cacheSalt;
    request.plannedNs = planned;

    m_reply = {};
    m_reply.droppedMessages = m_dropped;
    m_reply.promptTokens = static_cast<std::uint32_t>(request.prompt.size());
    m_updates = std::make_shared<UpdateQueue>();
    m_reply.request = m_engine.submit(
        std::move(request), [queue = m_updates](const engine::RequestUpdate& update) { queue->push(update); });
    return Done{};
}

bool Conversation::wait(std::chrono::milliseconds wait) {
    if (!busy()) return false;
    const auto update = m_updates->take(wait);
    if (!update) return false;
    m_reply.add(*update);
    if (m_reply.finished()) finish();
    return true;
}

void Conversation::finish() {
    m_updates = nullptr;
    const bool failed = m_reply.reason == FinishReason::Rejected || m_reply.reason == FinishReason::Error;
    if (failed || (m_reply.reason == FinishReason::Cancelled && m_reply.text.empty())) {
        m_messages = m_before;
        return;
    }
    // The transcript writes "Assistant: TEXT" where the model continued "Assistant:" with " TEXT".
    const bool transcript = m_settings.chatTemplate.empty() && !m_engine.text().hasOwnTemplate();
    const bool spaced = transcript && m_reply.text.starts_with(' ');
    m_messages.push_back({"assistant", spaced ? m_reply.text.substr(1) : m_reply.text});
}

void Conversation::cancel() {
    if (busy()) m_engine.cancel(m_reply.request);
}

}  // namespace firsttoken::sessions
