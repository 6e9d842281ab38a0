#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/bpe_encoder.h"
#include "engine/text/special_partition.h"
#include "engine/text/spm_encoder.h"
#include "engine/text/vocabulary.h"

namespace firsttoken::engine {

/// Text to ids and back for one vocabulary. Immutable after creation: any thread.
class Tokenizer {
public:
    explicit Tokenizer(std::unique_ptr<const Vocabulary> vocabulary);

    const Vocabulary& vocabulary() const { return *m_vocabulary; }

    /// `addBos` and `addEos`: whether they may be put there, where the model adds them. A text whose first token is
    /// BOS already gets no second one.
    std::vector<TokenId> encode(std::string_view text, const Trust& trust, bool addBos, bool addEos) const;

    std::string tokenBytes(TokenId id) const;
    std::string tokenText(TokenId id) const;
    std::string decode(std::span<const TokenId> ids) const;

private:
    void encodeRaw(std::string_view text, bool prefixSpace, std::vector<TokenId>& out) const;

    std::unique_ptr<const Vocabulary> m_vocabulary;
    SpecialPartition m_partition;
    std::optional<SpmEncoder> m_spm;
    std::optional<BpeEncoder> m_bpe;
};

}  // namespace firsttoken::engine
