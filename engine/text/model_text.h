#pragma once

#include "engine/text.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

namespace firsttoken::engine {

/// The Text of a GGUF file. Immutable after creation: any thread.
class ModelText final : public Text {
public:
    /// `chatTemplate` empty: the plain transcript.
    ModelText(std::unique_ptr<const Vocabulary> vocabulary, std::string chatTemplate);

    std::vector<TokenId> tokenize(std::string_view text, const TokenizeOptions& options) const override;
    std::string tokenBytes(TokenId id) const override;
    std::string tokenText(TokenId id) const override;
    std::string detokenize(std::span<const TokenId> ids) const override;
    bool stripsLeadingSpace() const override;

    std::size_t vocabularySize() const override;
    std::optional<TokenId> bos() const override;
    std::optional<TokenId> eos() const override;
    bool addsBos() const override;
    bool isEndOfGeneration(TokenId id) const override;
    std::span<const TokenId> neverSampled() const override;

    const std::string& chatTemplate() const override;
    bool hasOwnTemplate() const override;
    Result<std::vector<RenderedPiece>> render(std::string_view givenJson, std::string_view templateText,
                                              std::string_view now) const override;
    std::vector<TokenId> tokenizeRendered(std::span<const RenderedPiece> pieces) const override;
    Result<BuiltPrompt> buildPrompt(std::span<const ChatMessage> messages, std::size_t budgetTokens, TrimPolicy trim,
                                    std::string_view templateText) const override;
    std::vector<std::string> impliedStops() const override;

private:
    /// `templateText`, or the parsed template in use where it is empty.
    Result<jinja::Template> templateFor(std::string_view templateText) const;
    void addTokenNames(jinja::Dict& variables) const;
    Result<BuiltPrompt> promptOf(std::span<const ChatMessage> messages, const jinja::Template& chatTemplate) const;

    Tokenizer m_tokenizer;
    bool m_hasOwnTemplate = false;
    std::string m_chatTemplate;
    Result<jinja::Template> m_parsed;  ///< a broken template is an error when it is used, not when the file is opened
};

}  // namespace firsttoken::engine
