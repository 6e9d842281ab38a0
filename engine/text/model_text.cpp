#include "engine/text/model_text.h"

#include <fmt/format.h>

#include "engine/text/prompt_trim.h"

namespace firsttoken::engine {

ModelText::ModelText(std::unique_ptr<const Vocabulary> vocabulary, std::string chatTemplate)
    : m_tokenizer(std::move(vocabulary)),
      m_hasOwnTemplate(!chatTemplate.empty()),
      m_chatTemplate(m_hasOwnTemplate ? std::move(chatTemplate) : std::string(plainTranscriptTemplate())),
      m_parsed(jinja::Template::parse(m_chatTemplate)) {}

std::vector<TokenId> ModelText::tokenize(std::string_view text, const TokenizeOptions& options) const {
    return m_tokenizer.encode(text, options.parseSpecial ? Trust::all() : Trust::none(), options.addSpecial,
                              options.addSpecial);
}

std::string ModelText::tokenBytes(TokenId id) const { return m_tokenizer.tokenBytes(id); }
std::string ModelText::tokenText(TokenId id) const { return m_tokenizer.tokenText(id); }
std::string ModelText::detokenize(std::span<const TokenId> ids) const { return m_tokenizer.decode(ids); }
bool ModelText::stripsLeadingSpace() const { return m_tokenizer.vocabulary().addSpacePrefix; }

std::size_t ModelText::vocabularySize() const { return m_tokenizer.vocabulary().size(); }
std::optional<TokenId> ModelText::bos() const { return m_tokenizer.vocabulary().bos; }
std::optional<TokenId> ModelText::eos() const { return m_tokenizer.vocabulary().eos; }
bool ModelText::addsBos() const { return m_tokenizer.vocabulary().addBos; }

bool ModelText::isEndOfGeneration(TokenId id) const {
    const Vocabulary& vocabulary = m_tokenizer.vocabulary();
    return vocabulary.holds(id) && vocabulary.endOfGeneration[static_cast<std::size_t>(id)];
}

std::span<const TokenId> ModelText::neverSampled() const { return m_tokenizer.vocabulary().neverSampled; }

const std::string& ModelText::chatTemplate() const { return m_chatTemplate; }
bool ModelText::hasOwnTemplate() const { return m_hasOwnTemplate; }

std::vector<std::string> ModelText::impliedStops() const {
    return m_hasOwnTemplate ? std::vector<std::string>() : plainTranscriptStops();
}

Result<jinja::Template> ModelText::templateFor(std::string_view templateText) const {
    return templateText.empty() ? m_parsed : jinja::Template::parse(templateText);
}

void ModelText::addTokenNames(jinja::Dict& variables) const {
    const Vocabulary& vocabulary = m_tokenizer.vocabulary();
    const auto add = [&](std::string_view name, std::optional<TokenId> id) {
        if (!id || variables.find(name) != nullptr) return;
        variables.set(jinja::Value::text(std::string(name)), jinja::Value::text(std::string(vocabulary.textOf(*id))));
    };
    add("bos_token", vocabulary.bos);
    add("eos_token", vocabulary.eos);
}

Result<std::vector<RenderedPiece>> ModelText::render(std::string_view givenJson, std::string_view templateText,
                                                     std::string_view now) const {
    const auto chatTemplate = templateFor(templateText);
    if (!chatTemplate.ok()) return chatTemplate.error();
    auto variables = variablesFromJson(givenJson);
    if (!variables.ok()) return variables.error();
    const auto date = parseDate(now);
    if (!date.ok()) return date.error();
    addTokenNames(*variables);
    return renderPieces(*chatTemplate, *variables, *date);
}

std::vector<TokenId> ModelText::tokenizeRendered(std::span<const RenderedPiece> pieces) const {
    // One text, so that merges cross the seams as in a plain tokenization; the marks decide about control tokens.
    std::string text;
    std::vector<bool> trusted;
    for (const RenderedPiece& piece : pieces) {
        text += piece.text;
        trusted.resize(text.size(), piece.trusted);
    }
    return m_tokenizer.encode(text, Trust(trusted), true, false);
}

Result<BuiltPrompt> ModelText::promptOf(std::span<const ChatMessage> messages,
                                        const jinja::Template& chatTemplate) const {
    jinja::Dict variables = variablesFromMessages(messages);
    addTokenNames(variables);
    const auto date = parseDate({});
    if (!date.ok()) return date.error();
    const auto pieces = renderPieces(chatTemplate, variables, *date);
    if (!pieces.ok()) return pieces.error();
    BuiltPrompt prompt;
    prompt.tokens = tokenizeRendered(*pieces);
    for (const RenderedPiece& piece : *pieces) prompt.text += piece.text;
    return prompt;
}

Result<BuiltPrompt> ModelText::buildPrompt(std::span<const ChatMessage> messages, std::size_t budgetTokens,
                                           TrimPolicy trim, std::string_view templateText) const {
    const auto chatTemplate = templateFor(templateText);
    if (!chatTemplate.ok()) return chatTemplate.error();
    return fitPrompt(messages, budgetTokens, trim,
                     [&](std::span<const ChatMessage> kept) { return promptOf(kept, *chatTemplate); });
}

Result<std::shared_ptr<const Text>> openText(const std::string& ggufPath) {
    auto file = GgufFile::open(ggufPath);
    if (!file.ok()) return file.error();
    const auto chatTemplate = file->string("tokenizer.chat_template");
    if (!chatTemplate.ok()) return chatTemplate.error();
    std::string templateText(chatTemplate->value_or(std::string_view()));
    auto vocabulary = loadVocabulary(*std::move(file));
    if (!vocabulary.ok()) return vocabulary.error();
    std::shared_ptr<const Text> text = std::make_shared<ModelText>(*std::move(vocabulary), std::move(templateText));
    return text;
}

}  // namespace firsttoken::engine
