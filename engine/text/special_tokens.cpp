#include "engine/text/special_tokens.h"

#include <algorithm>
#include <array>
#include <map>

namespace firsttoken::engine {

namespace {

// facts: architectures, section 9. The texts by which a token ends a generation, whatever its file says.
constexpr std::string_view endTexts[] = {"<|eot_id|>",
                                         "<|im_end|>",
                                         "<|end|>",
                                         "<|return|>",
                                         "<|call|>",
                                         "<|flush|>",
                                         "<|calls|>",
                                         "<end_of_turn>",
                                         "<|endoftext|>",
                                         "</s>",
                                         "<|eom_id|>",
                                         "<EOT>",
                                         "_<EOT>",
                                         "[EOT]",
                                         "[EOS]",
                                         "<|end_of_text|>",
                                         "<end_of_utterance>",
                                         "<eos>",
                                         "<turn|>",
                                         "<|tool_response>",
                                         "<｜end▁of▁sentence｜>",
                                         "[e~["};
// Fill-in-the-middle marks that end one, too; they keep their type.
constexpr std::string_view fillTexts[] = {"<|fim_pad|>", "<fim-pad>", "<fim_pad>",  "<|fim_repo|>", "<|repo_name|>",
                                          "<fim-repo>",  "<REPO>",    "<reponame>", "<|file_sep|>"};
// Control tokens of the harmony format that must be seen in the stream.
constexpr std::string_view renderedTexts[] = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"};

/// Models whose tokenizer drops the white space after special tokens; GGUF has no key for it.
struct StripRule {
    std::string_view nameContains;  ///< of general.name, in lower case
    std::array<std::string_view, 3> except;
};
constexpr StripRule stripRules[] = {{"phi-3", {"<unk>", "<s>", "<|endoftext|>"}},
                                    {"phi3", {"<unk>", "<s>", "<|endoftext|>"}}};

template <class Texts>
bool contains(const Texts& texts, std::string_view text) {
    return std::find(std::begin(texts), std::end(texts), text) != std::end(texts);
}

bool isPartitioned(TokenType type) {
    return type == TokenType::Control || type == TokenType::UserDefined || type == TokenType::Unknown;
}

class Marker {
public:
    explicit Marker(Vocabulary& vocabulary) : m_vocabulary(vocabulary) {
        for (auto* flags : {&m_vocabulary.endOfGeneration, &m_vocabulary.rendered, &m_vocabulary.stripsAfter}) {
            flags->assign(m_vocabulary.size(), false);
        }
    }

    void markByKey(std::span<const TokenId> ids) {
        for (const TokenId id : ids) m_vocabulary.endOfGeneration[static_cast<std::size_t>(id)] = true;
    }

    void markByText() {
        for (std::size_t id = 0; id < m_vocabulary.size(); ++id) {
            const std::string_view text = m_vocabulary.texts[id];
            // Almost all tokens of a vocabulary stop at this line.
            if (text.empty() || (text[0] != '<' && text[0] != '[' && text[0] != '_')) continue;
            const bool ends = contains(endTexts, text);
            if (ends) m_vocabulary.types[id] = TokenType::Control;
            if (ends || contains(fillTexts, text)) {
                m_vocabulary.endOfGeneration[id] = true;
                m_ends.emplace(text, id);
            }
            if (contains(renderedTexts, text)) {
                m_vocabulary.rendered[id] = true;
                m_vocabulary.types[id] = TokenType::Control;
            }
        }
    }

    void applyExceptions() {
        const auto both = [this](std::string_view a, std::string_view b) {
            return m_ends.contains(a) && m_ends.contains(b);
        };
        if (both("<|return|>", "<|call|>") || both("<|calls|>", "<|flush|>")) unmark("<|end|>");
        if (m_ends.contains("<|tool_response>")) unmark("</s>");
    }

    void markStripping() {
        const auto name = m_vocabulary.file.string("general.name");
        if (!name.ok() || !*name) return;
        std::string lower(**name);
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
        for (const StripRule& rule : stripRules) {
            if (lower.find(rule.nameContains) == std::string::npos) continue;
            for (std::size_t id = 0; id < m_vocabulary.size(); ++id) {
                if (isPartitioned(m_vocabulary.types[id]) && !contains(rule.except, m_vocabulary.texts[id])) {
                    m_vocabulary.stripsAfter[id] = true;
                }
            }
        }
    }

private:
    void unmark(std::string_view text) {
        const auto found = m_ends.find(text);
        if (found != m_ends.end()) m_vocabulary.endOfGeneration[found->second] = false;
    }

    Vocabulary& m_vocabulary;
    std::map<std::string_view, std::size_t> m_ends;
};

}  // namespace

void markSpecialTokens(std::span<const TokenId> byKey, Vocabulary& vocabulary) {
    Marker marker(vocabulary);
    marker.markByKey(byKey);
    marker.markByText();
    marker.applyExceptions();
    marker.markStripping();
}

}  // namespace firsttoken::engine
