#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text.h"
#include "sessions/load/random_stream.h"

namespace firsttoken::sessions {

/// Text and the tokens that a client would get for it.
struct WrittenPrompt {
    std::vector<engine::TokenId> tokens;
    std::string text;
};

/// Writes sentences of ordinary words with an exact number of tokens. Words are tokenized once, in context, and their
/// tokens joined: no vocabulary that splits at spaces can tell the difference. Only a prompt's or prefix's last word
/// may be cut to make the count exact. Immutable after creation: any thread.
class PromptWriter {
public:
    explicit PromptWriter(const engine::Text& text);

    /// `count` ≥ 1 tokens, those included that the model puts around every text.
    WrittenPrompt write(RandomStream& random, std::int64_t count) const;
    /// Continues what begin() or extend() wrote by exactly `count` tokens.
    void extend(WrittenPrompt& prompt, RandomStream& random, std::int64_t count) const;
    /// A beginning of `count` tokens, for extend() and finish().
    WrittenPrompt begin(RandomStream& random, std::int64_t count) const;
    /// Puts the tokens at the end that the model wants there.
    void finish(WrittenPrompt& prompt) const;
    std::int64_t tokensAtEnd() const { return static_cast<std::int64_t>(m_after.size()); }

private:
    struct Piece {
        std::string text;
        std::vector<engine::TokenId> tokens;
    };
    Piece inContext(const engine::Text& text, std::string piece) const;
    void fill(WrittenPrompt& prompt, RandomStream& random, std::size_t target) const;
    void addLast(WrittenPrompt& prompt, RandomStream& random, std::size_t target) const;

    const engine::Text& m_text;
    std::vector<engine::TokenId> m_before, m_after;     ///< around every text: BOS, EOS
    std::vector<Piece> m_first;                         ///< at the text's start: "Word"
    std::vector<Piece> m_opening, m_middle, m_closing;  ///< " Word", " word", " word."
};

}  // namespace firsttoken::sessions
