#include "sessions/load/prompt_writer.h"

#include <algorithm>
#include <cctype>

#include "sessions/load/word_list.h"

namespace firsttoken::sessions {

using engine::TokenId;

namespace {

constexpr std::uint64_t shortestSentence = 6;
constexpr std::uint64_t sentenceSpread = 9;
/// What pieces are tokenized behind, so that they get the tokens of a text's middle.
constexpr std::string_view anchor = "Some";

std::string capital(std::string_view word) {
    std::string text(word);
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

std::vector<TokenId> plain(const engine::Text& text, std::string_view what) {
    engine::TokenizeOptions options;
    options.addSpecial = false;
    return text.tokenize(what, options);
}

}  // namespace

PromptWriter::PromptWriter(const engine::Text& text) : m_text(text) {
    const std::vector<TokenId> bare = plain(text, anchor);
    const std::vector<TokenId> dressed = text.tokenize(anchor);
    const auto at = std::search(dressed.begin(), dressed.end(), bare.begin(), bare.end());
    if (at != dressed.end()) {
        m_before.assign(dressed.begin(), at);
        m_after.assign(at + static_cast<std::ptrdiff_t>(bare.size()), dressed.end());
    }
    const auto keep = [](std::vector<Piece>& list, Piece piece) {
        if (!piece.tokens.empty()) list.push_back(std::move(piece));
    };
    for (const std::string_view word : promptWords()) {
        const std::string lower(word);
        keep(m_first, {capital(word), plain(text, capital(word))});
        keep(m_opening, inContext(text, " " + capital(word)));
        keep(m_middle, inContext(text, " " + lower));
        keep(m_closing, inContext(text, " " + lower + "."));
    }
}

PromptWriter::Piece PromptWriter::inContext(const engine::Text& text, std::string piece) const {
    const std::size_t skipped = plain(text, anchor).size();
    std::vector<TokenId> tokens = plain(text, std::string(anchor) + piece);
    if (tokens.size() > skipped) {
        tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(skipped));
    } else {
        tokens = plain(text, piece);
    }
    return {std::move(piece), std::move(tokens)};
}

WrittenPrompt PromptWriter::write(RandomStream& random, std::int64_t count) const {
    const std::int64_t body = std::max<std::int64_t>(count - tokensAtEnd(), 0);
    WrittenPrompt prompt = begin(random, body);
    finish(prompt);
    prompt.tokens.resize(static_cast<std::size_t>(count));  // shorter than what stands around every text
    return prompt;
}

WrittenPrompt PromptWriter::begin(RandomStream& random, std::int64_t count) const {
    const auto target = static_cast<std::size_t>(count);
    WrittenPrompt prompt;
    prompt.tokens.assign(m_before.begin(),
                         m_before.begin() + static_cast<std::ptrdiff_t>(std::min(m_before.size(), target)));
    fill(prompt, random, target);
    return prompt;
}

void PromptWriter::extend(WrittenPrompt& prompt, RandomStream& random, std::int64_t count) const {
    fill(prompt, random, prompt.tokens.size() + static_cast<std::size_t>(count));
}

void PromptWriter::finish(WrittenPrompt& prompt) const {
    prompt.tokens.insert(prompt.tokens.end(), m_after.begin(), m_after.end());
}

void PromptWriter::fill(WrittenPrompt& prompt, RandomStream& random, std::size_t target) const {
    std::uint64_t wordsLeft = 0;  // of the sentence
    while (prompt.tokens.size() < target) {
        const std::vector<Piece>& list = prompt.text.empty() ? m_first
                                         : wordsLeft == 0    ? m_opening
                                         : wordsLeft == 1    ? m_closing
                                                             : m_middle;
        if (list.empty()) {  // a vocabulary without words: the count is all that can be had
            prompt.tokens.resize(target, m_text.eos().value_or(0));
            return;
        }
        const Piece& piece = list[random.below(list.size())];
        wordsLeft = wordsLeft == 0 ? shortestSentence + random.below(sentenceSpread) : wordsLeft - 1;
        if (prompt.tokens.size() + piece.tokens.size() > target) return addLast(prompt, random, target);
        prompt.tokens.insert(prompt.tokens.end(), piece.tokens.begin(), piece.tokens.end());
        prompt.text += piece.text;
    }
}

void PromptWriter::addLast(WrittenPrompt& prompt, RandomStream& random, std::size_t target) const {
    const std::size_t missing = target - prompt.tokens.size();
    const bool atStart = prompt.text.empty();
    const std::vector<Piece>& list = atStart ? m_first : m_closing;
    const std::vector<Piece>& otherList = atStart ? m_first : m_middle;
    const std::size_t from = random.below(list.size());
    const Piece* cut = nullptr;
    for (const std::vector<Piece>* candidates : {&list, &otherList}) {
        for (std::size_t i = 0; i < candidates->size(); ++i) {
            const Piece& piece = (*candidates)[(from + i) % candidates->size()];
            if (piece.tokens.size() == missing) {
                prompt.tokens.insert(prompt.tokens.end(), piece.tokens.begin(), piece.tokens.end());
                prompt.text += piece.text;
                return;
            }
            if (cut == nullptr && piece.tokens.size() > missing) cut = &piece;
        }
    }
    // The caller came with a piece that was too long, so there is one to cut, or none of this list: then the end token.
    std::string text;
    for (std::size_t i = 0; i < missing; ++i) {
        const TokenId token = cut != nullptr ? cut->tokens[i] : m_text.eos().value_or(0);
        prompt.tokens.push_back(token);
        text += m_text.tokenBytes(token);
    }
    if (atStart && m_text.stripsLeadingSpace() && text.starts_with(' ')) text.erase(0, 1);
    prompt.text += text;
}

}  // namespace firsttoken::sessions
