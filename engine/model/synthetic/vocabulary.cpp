#include "engine/model/synthetic/vocabulary.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <unordered_set>

namespace firsttoken::engine {

namespace {

constexpr std::string_view wordStart = "\u2581";  // SPM's mark of a space
constexpr std::uint32_t maxTokens = 1U << 24;

enum TokenType : std::int32_t { Normal = 1, Unknown = 2, Control = 3, Byte = 6 };

constexpr std::array commonWords{
    "the",     "and",   "to",      "of",    "in",       "is",     "that",  "it",        "for",    "on",      "with",
    "as",      "you",   "are",     "this",  "be",       "at",     "by",    "not",       "or",     "from",    "have",
    "an",      "we",    "can",     "all",   "what",     "how",    "one",   "time",      "will",   "there",   "their",
    "which",   "model", "more",    "write", "about",    "when",   "out",   "up",        "people", "word",    "your",
    "like",    "other", "some",    "would", "make",     "them",   "first", "token",     "these",  "number",  "way",
    "could",   "water", "been",    "call",  "who",      "now",    "find",  "long",      "down",   "day",     "did",
    "get",     "come",  "made",    "may",   "part",     "over",   "new",   "sound",     "take",   "only",    "little",
    "work",    "know",  "place",   "year",  "live",     "back",   "give",  "most",      "very",   "after",   "thing",
    "our",     "just",  "name",    "good",  "sentence", "man",    "think", "say",       "great",  "where",   "help",
    "through", "much",  "before",  "line",  "right",    "too",    "mean",  "old",       "any",    "same",    "tell",
    "follow",  "came",  "want",    "show",  "also",     "around", "form",  "three",     "small",  "set",     "put",
    "end",     "does",  "another", "well",  "large",    "must",   "big",   "even",      "such",   "because", "turn",
    "here",    "why",   "ask",     "went",  "read",     "need",   "land",  "different", "home",   "move",    "try",
};

/// Collects distinct tokens until there are enough.
class TokenList {
public:
    explicit TokenList(std::size_t count) : m_count(count) {}

    bool full() const { return texts.size() >= m_count; }
    void add(std::string text, TokenType type) {
        if (full() || !m_seen.insert(text).second) return;
        texts.push_back(std::move(text));
        types.push_back(type);
        // Merges go by score, so that what stands earlier is joined first. Only the order counts.
        scores.push_back(type == Normal ? -static_cast<float>(scores.size()) : 0.0F);
    }

    std::vector<std::string> texts;
    std::vector<float> scores;
    std::vector<std::int32_t> types;

private:
    std::size_t m_count;
    std::unordered_set<std::string> m_seen;
};

/// SPM joins two neighbours at a time: a word needs its beginnings as tokens, too.
void addWord(TokenList& tokens, std::string_view word) {
    const std::string marked = std::string(wordStart) + std::string(word);
    for (std::size_t end = wordStart.size() + 1; end <= marked.size(); ++end) {
        tokens.add(marked.substr(0, end), Normal);
    }
}

/// Number n in syllables: pronounceable, and distinct for distinct numbers.
std::string madeUpWord(std::uint32_t n) {
    constexpr std::string_view consonants = "bdfgklmnprstvz", vowels = "aeiou";
    const auto syllables = static_cast<std::uint32_t>(consonants.size() * vowels.size());
    std::string word;
    do {
        const std::uint32_t syllable = n % syllables;
        word += consonants[syllable / vowels.size()];
        word += vowels[syllable % vowels.size()];
        n /= syllables;
    } while (n > 0);
    return word;
}

}  // namespace

void addMadeUpVocabulary(GgufWriter& writer, std::uint32_t count) {
    TokenList tokens(count);
    tokens.add("<unk>", Unknown);
    tokens.add("<s>", Control);
    tokens.add("</s>", Control);
    for (int byte = 0; byte < 256; ++byte) tokens.add(fmt::format("<0x{:02X}>", byte), Byte);
    tokens.add(std::string(wordStart), Normal);
    for (char c = '!'; c <= '~'; ++c) tokens.add(std::string(1, c), Normal);
    for (const char* word : commonWords) addWord(tokens, word);
    // The offset skips words of one syllable: as parts they would get in the way of the common ones.
    for (std::uint32_t n = 70; !tokens.full(); ++n) tokens.add(std::string(wordStart) + madeUpWord(n), Normal);

    writer.add("tokenizer.ggml.model", "llama");
    writer.add("tokenizer.ggml.pre", "default");
    writer.add("tokenizer.ggml.tokens", std::span<const std::string>(tokens.texts));
    writer.add("tokenizer.ggml.scores", std::span<const float>(tokens.scores));
    writer.add("tokenizer.ggml.token_type", std::span<const std::int32_t>(tokens.types));
    writer.add("tokenizer.ggml.bos_token_id", std::uint32_t{1});
    writer.add("tokenizer.ggml.eos_token_id", std::uint32_t{2});
    writer.add("tokenizer.ggml.unknown_token_id", std::uint32_t{0});
    writer.add("tokenizer.ggml.add_bos_token", true);
    writer.add("tokenizer.ggml.add_eos_token", false);
}

Result<std::uint32_t> countTokens(const GgufFile& source) {
    const GgufEntry* tokens = source.entry("tokenizer.ggml.tokens");
    if (tokens == nullptr || tokens->type != GgufType::Array || tokens->elementType != GgufType::String ||
        tokens->count == 0 || tokens->count > maxTokens) {
        return source.fault("has no vocabulary (no list of strings 'tokenizer.ggml.tokens')");
    }
    return static_cast<std::uint32_t>(tokens->count);
}

void copyVocabulary(const GgufFile& source, GgufWriter& writer) {
    for (const GgufEntry& entry : source.entries()) {
        if (entry.key.starts_with("tokenizer.")) writer.add(entry);
    }
}

}  // namespace firsttoken::engine
