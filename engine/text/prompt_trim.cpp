#include "engine/text/prompt_trim.h"

#include <fmt/format.h>

namespace firsttoken::engine {

namespace {

/// The messages at which the kept rest may begin, the longest rest first.
std::vector<std::size_t> possibleStarts(std::span<const ChatMessage> messages, std::size_t firstTurn) {
    std::vector<std::size_t> starts;
    for (std::size_t i = firstTurn + 1; i < messages.size(); ++i) {
        if (messages[i].role == "user" || i + 1 == messages.size()) starts.push_back(i);
    }
    return starts;
}

Error doesNotFit(std::size_t tokens, std::size_t budget, std::string_view what) {
    return {ErrorCode::DoesNotFit,
            fmt::format("{} takes {} tokens, but only {} fit (the context less the room for the answer)", what, tokens,
                        budget)};
}

}  // namespace

Result<BuiltPrompt> fitPrompt(std::span<const ChatMessage> messages, std::size_t budgetTokens, TrimPolicy trim,
                              const PromptBuilder& build) {
    auto whole = build(messages);
    if (!whole.ok() || whole->tokens.size() <= budgetTokens) return whole;
    if (trim == TrimPolicy::Refuse) return doesNotFit(whole->tokens.size(), budgetTokens, "the prompt");

    std::size_t firstTurn = 0;
    while (firstTurn < messages.size() && messages[firstTurn].role == "system") ++firstTurn;
    const std::vector<std::size_t> starts = possibleStarts(messages, firstTurn);
    const auto buildFrom = [&](std::size_t start) {
        std::vector<ChatMessage> kept(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(firstTurn));
        kept.insert(kept.end(), messages.begin() + static_cast<std::ptrdiff_t>(start), messages.end());
        auto prompt = build(kept);
        if (prompt.ok()) prompt->droppedMessages = start - firstTurn;
        return prompt;
    };
    // The more is dropped, the shorter the prompt: the first start that fits is found by halving.
    std::optional<BuiltPrompt> best;
    std::size_t shortest = whole->tokens.size();
    for (std::size_t low = 0, high = starts.size(); low < high;) {
        const std::size_t middle = low + (high - low) / 2;
        auto prompt = buildFrom(starts[middle]);
        if (!prompt.ok()) return prompt;
        if (prompt->tokens.size() <= budgetTokens) {
            best = *std::move(prompt);
            high = middle;
        } else {
            shortest = std::min(shortest, prompt->tokens.size());
            low = middle + 1;
        }
    }
    if (best) return *std::move(best);
    return doesNotFit(shortest, budgetTokens, "the prompt without its earlier turns");
}

}  // namespace firsttoken::engine
