#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/gguf_file.h"
#include "engine/text.h"
#include "engine/text/pretokenize/pre_tokenizer.h"
#include "engine/text/token_index.h"

namespace firsttoken::engine {

enum class VocabularyModel { Spm, ByteBpe, RawBpe };

/// tokenizer.ggml.token_type
enum class TokenType : std::uint8_t { Undefined, Normal, Unknown, Control, UserDefined, Unused, Byte };

/// What `tokenizer.ggml.*` says, checked. All views point into the mapped file, which `file` keeps. Immutable after
/// loadVocabulary(): any thread. Not movable once indexed (the index points at `texts`).
struct Vocabulary {
    explicit Vocabulary(GgufFile mapped) : file(std::move(mapped)) {}
    Vocabulary(const Vocabulary&) = delete;
    Vocabulary& operator=(const Vocabulary&) = delete;

    GgufFile file;
    VocabularyModel model = VocabularyModel::Spm;
    const PreTokenizer* pre = nullptr;     ///< BPE only
    std::vector<std::string_view> texts;   ///< by id
    std::vector<TokenType> types;          ///< by id
    std::vector<float> scores;             ///< by id; SPM only
    std::vector<std::string_view> merges;  ///< "left right" by rank; BPE only
    TokenIndex index;                      ///< what raw text may become: no control tokens, no filler
    std::optional<TokenId> bos, eos, unknown;
    bool addBos = false, addEos = false;
    bool addSpacePrefix = false;        ///< SPM only
    std::vector<bool> endOfGeneration;  ///< by id
    std::vector<bool> rendered;         ///< by id: control tokens that streams show all the same
    std::vector<bool> stripsAfter;      ///< by id: white space after a match of this token is dropped
    std::vector<TokenId> neverSampled;  ///< ascending

    std::size_t size() const { return texts.size(); }
    bool holds(TokenId id) const { return id >= 0 && static_cast<std::size_t>(id) < texts.size(); }
    TokenType typeOf(TokenId id) const { return types[static_cast<std::size_t>(id)]; }
    std::string_view textOf(TokenId id) const { return texts[static_cast<std::size_t>(id)]; }
};

/// Errors: BadInput for missing or contradicting keys, Unsupported for a tokenizer model or pre-tokenizer that this
/// build does not do (the message names it and lists those it does).
Result<std::unique_ptr<Vocabulary>> loadVocabulary(GgufFile file);

/// True for "[PAD123]": rows that only fill the embedding matrix up.
bool isFiller(std::string_view text);

}  // namespace firsttoken::engine
