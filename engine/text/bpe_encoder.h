#pragma once

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/text/spm_encoder.h"
#include "engine/text/symbol_chain.h"
#include "engine/text/vocabulary.h"

namespace firsttoken::engine {

/// BPE: cuts text by the pre-tokenizer, then joins neighbours, the lowest rank first (facts: tokenizers, section 3).
/// Symbols are characters of the byte alphabet, or plain characters for VocabularyModel::RawBpe. Immutable after
/// creation: any thread. The vocabulary must outlive it.
class BpeEncoder {
public:
    explicit BpeEncoder(const Vocabulary& vocabulary);
    /// Appends the ids of `text`. Near-linear, no recursion; text under 2 GiB. Invalid UTF-8 becomes U+FFFD.
    void encode(std::string_view text, std::vector<TokenId>& out) const;

private:
    /// A text as a number: a token's id, or one from the vocabulary's size on for texts that only merges know.
    using SymbolId = std::int32_t;
    struct Merge {
        std::uint64_t pair = emptyPair;  ///< left << 32 | right
        std::int32_t rank = 0;
        SymbolId result = -1;
    };
    static constexpr std::uint64_t emptyPair = ~std::uint64_t{0};

    SymbolId intern(std::string_view text);
    SymbolId lookUp(std::string_view text) const;
    void addMerge(SymbolId left, SymbolId right, std::int32_t rank, SymbolId result);
    const Merge* findMerge(SymbolId left, SymbolId right) const;
    void encodePiece(std::string_view piece, SymbolChain& chain, std::vector<TokenId>& out) const;
    void fillChain(std::string_view piece, SymbolChain& chain) const;
    void appendIds(std::string_view piece, const SymbolChain& chain, std::vector<TokenId>& out) const;

    const Vocabulary& m_vocabulary;
    bool m_raw = false;
    std::vector<Merge> m_merges;  ///< open addressing; a power of two
    std::deque<std::string> m_extraTexts;
    std::unordered_map<std::string_view, SymbolId> m_extras;  ///< texts of merges that are no tokens
    std::array<SymbolId, 256> m_byteSymbols{};                ///< of one byte; -1: neither token nor in merges
    ByteTokens m_byteFallback{};                              ///< RawBpe only
};

}  // namespace firsttoken::engine
