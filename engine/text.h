#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/profile.h"
#include "engine/result.h"

/// Text in and out of tokens. A Text is immutable after creation: any thread.
namespace firsttoken::engine {

using TokenId = std::int32_t;

struct TokenizeOptions {
    bool addSpecial = true;     ///< BOS and EOS as the model says
    bool parseSpecial = false;  ///< control tokens typed in the text become those tokens
};

struct ChatMessage {
    std::string role;           ///< system, user, assistant, tool
    std::string content;
    bool operator==(const ChatMessage&) const = default;
};

/// A piece of rendered prompt: scaffolding of the template, or text of a person or model in which control
/// tokens must not be recognised.
struct RenderedPiece {
    std::string text;
    bool trusted = false;
    bool operator==(const RenderedPiece&) const = default;
};

/// What messages became, ready for Engine::submit.
struct BuiltPrompt {
    std::vector<TokenId> tokens;
    std::string text;
    std::size_t droppedMessages = 0;  ///< by TrimPolicy::DropOldest
};

/// Turns the tokens of one sequence into whole UTF-8 characters. Owned by one sequence.
class StreamDecoder;

class Text {
public:
    virtual ~Text() = default;

    /// Invalid UTF-8 becomes U+FFFD for BPE; SPM keeps bytes by byte fallback.
    virtual std::vector<TokenId> tokenize(std::string_view text, const TokenizeOptions& options = {}) const = 0;
    /// Bytes of one token as they stream (control tokens: empty). May end within a character.
    virtual std::string tokenBytes(TokenId id) const = 0;
    /// The token's text as the vocabulary shows it (control tokens too).
    virtual std::string tokenText(TokenId id) const = 0;
    /// Whole-sequence decode: concatenation, then the leading-space rule of SPM.
    virtual std::string detokenize(std::span<const TokenId> ids) const = 0;
    /// True where the vocabulary adds a space that detokenize() takes away again (SPM's add_space_prefix).
    virtual bool stripsLeadingSpace() const = 0;

    virtual std::size_t vocabularySize() const = 0;
    virtual std::optional<TokenId> bos() const = 0;
    virtual std::optional<TokenId> eos() const = 0;
    virtual bool addsBos() const = 0;
    virtual bool isEndOfGeneration(TokenId id) const = 0;
    /// Ids that must never be sampled (padding rows, suppressed tokens).
    virtual std::span<const TokenId> neverSampled() const = 0;

    /// The chat template in use: the model's, or the plain transcript for models without one.
    virtual const std::string& chatTemplate() const = 0;
    virtual bool hasOwnTemplate() const = 0;
    /// Renders `givenJson` (messages, tools, documents, add_generation_prompt, …; bos_token and eos_token default
    /// to the model's). `templateText` empty: chatTemplate(). `now`: YYYY-MM-DD for strftime_now, empty: today.
    virtual Result<std::vector<RenderedPiece>> render(std::string_view givenJson, std::string_view templateText = {},
                                                      std::string_view now = {}) const = 0;
    /// Tokenizes what render() gave: special tokens only in trusted pieces; BOS added at most once.
    virtual std::vector<TokenId> tokenizeRendered(std::span<const RenderedPiece> pieces) const = 0;
    /// Messages to prompt. `budgetTokens` is the context less what the answer needs; over it, `trim` decides:
    /// refuse (DoesNotFit with the numbers), or drop the oldest turns, never the system prompt or the last message.
    virtual Result<BuiltPrompt> buildPrompt(std::span<const ChatMessage> messages, std::size_t budgetTokens,
                                            TrimPolicy trim, std::string_view templateText = {}) const = 0;
    /// Stop strings that the template itself implies (the plain transcript stops at the next "User:" line).
    virtual std::vector<std::string> impliedStops() const = 0;
};

/// Reads the vocabulary and template of a GGUF file; metadata only: any architecture, also files without tensors.
/// Errors name the tokenizer model or pre-tokenizer that is not supported, and list those that are.
Result<std::shared_ptr<const Text>> openText(const std::string& ggufPath);

/// Renders a template that stands alone (`render --template`). The pieces' texts concatenated are the result.
Result<std::vector<RenderedPiece>> renderTemplate(std::string_view templateText, std::string_view givenJson,
                                                  std::string_view now = {});

}  // namespace firsttoken::engine
