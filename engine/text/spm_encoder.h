#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "engine/text/pair_filter.h"
#include "engine/text/symbol_chain.h"
#include "engine/text/vocabulary.h"

namespace firsttoken::engine {

/// The ids of single bytes: `<0x41>`, else the token that is that byte; -1 where there is neither.
using ByteTokens = std::array<TokenId, 256>;
ByteTokens byteFallbackTokens(const Vocabulary& vocabulary);

/// SPM: joins neighbouring symbols, the highest score first (facts: tokenizers, section 2). Immutable: any thread.
/// The vocabulary must outlive it.
class SpmEncoder {
public:
    explicit SpmEncoder(const Vocabulary& vocabulary);
    /// Appends the ids of `text`, whose spaces are U+2581 already. O(n log n), no recursion; text under 2 GiB.
    void encode(std::string_view text, std::vector<TokenId>& out) const;

private:
    /// The byte at which the part that begins at `begin` may end: no token lies across it.
    std::size_t partEnd(std::string_view text, std::size_t begin) const;
    void encodePart(std::string_view text, SymbolChain& chain, std::vector<TokenId>& out) const;
    void appendBytes(std::string_view text, std::vector<TokenId>& out) const;

    const Vocabulary& m_vocabulary;
    ByteTokens m_bytes;
    std::vector<std::uint32_t> m_ranks;  ///< by id: place of the score, the highest first; equal scores share one
    PairFilter m_pairs;
};

}  // namespace firsttoken::engine
