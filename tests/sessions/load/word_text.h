#pragma once

#include <map>
#include <string>

#include "engine/text.h"

namespace firsttoken::tests {

/// A vocabulary of words: every run of non-spaces with the space before it is a token, numbered as they come up.
class WordText final : public engine::Text {
public:
    std::vector<engine::TokenId> tokenize(std::string_view text, const engine::TokenizeOptions&) const override {
        std::vector<engine::TokenId> ids;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(' ', at + 1), text.size());
            const std::string word(text.substr(at, end - at));
            ids.push_back(m_ids.emplace(word, static_cast<engine::TokenId>(m_ids.size())).first->second);
            at = end;
        }
        return ids;
    }
    std::string tokenBytes(engine::TokenId) const override { return " word"; }
    std::string tokenText(engine::TokenId) const override { return " word"; }
    std::string detokenize(std::span<const engine::TokenId>) const override { return {}; }
    bool stripsLeadingSpace() const override { return false; }
    std::size_t vocabularySize() const override { return 10'000; }
    std::optional<engine::TokenId> bos() const override { return std::nullopt; }
    std::optional<engine::TokenId> eos() const override { return std::nullopt; }
    bool addsBos() const override { return false; }
    bool isEndOfGeneration(engine::TokenId) const override { return false; }
    std::span<const engine::TokenId> neverSampled() const override { return {}; }
    const std::string& chatTemplate() const override { return m_template; }
    bool hasOwnTemplate() const override { return false; }
    engine::Result<std::vector<engine::RenderedPiece>> render(std::string_view, std::string_view,
                                                              std::string_view) const override {
        return std::vector<engine::RenderedPiece>();
    }
    std::vector<engine::TokenId> tokenizeRendered(std::span<const engine::RenderedPiece>) const override { return {}; }
    engine::Result<engine::BuiltPrompt> buildPrompt(std::span<const engine::ChatMessage>, std::size_t,
                                                    engine::TrimPolicy, std::string_view) const override {
        return engine::BuiltPrompt();
    }
    std::vector<std::string> impliedStops() const override { return {}; }

private:
    mutable std::map<std::string, engine::TokenId> m_ids;
    std::string m_template;
};

}  // namespace firsttoken::tests
