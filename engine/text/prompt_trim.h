#pragma once

#include <functional>
#include <span>

#include "engine/text.h"

namespace firsttoken::engine {

/// Builds a prompt from messages; called with fewer and fewer of them.
using PromptBuilder = std::function<Result<BuiltPrompt>(std::span<const ChatMessage>)>;

/// The prompt of all messages, or of as many as fit `budgetTokens`. TrimPolicy::DropOldest drops whole turns, each
/// from a user message to the one before the next user message; it never drops the system messages at the start or
/// the last message. Errors: DoesNotFit with the numbers; the builder's.
Result<BuiltPrompt> fitPrompt(std::span<const ChatMessage> messages, std::size_t budgetTokens, TrimPolicy trim,
                              const PromptBuilder& build);

}  // namespace firsttoken::engine
