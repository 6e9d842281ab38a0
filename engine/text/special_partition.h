#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/text/vocabulary.h"

namespace firsttoken::engine {

/// A stretch of text between special tokens, or a special token.
struct Fragment {
    std::string_view text;  ///< raw text; of a token: what it matched
    std::optional<TokenId> token;
    bool operator==(const Fragment&) const = default;
};

/// Where control tokens may be recognised in a text: everywhere, nowhere, or byte by byte.
class Trust {
public:
    static Trust all() { return Trust(true); }
    static Trust none() { return Trust(false); }
    /// One entry a byte of the text; must outlive the Trust.
    explicit Trust(const std::vector<bool>& bytes);
    /// True if bytes from … to − 1 are trusted, every one.
    bool covers(std::size_t from, std::size_t to) const;

private:
    explicit Trust(bool everything) : m_everything(everything) {}
    bool m_everything = false;
    std::vector<std::size_t> m_trustedUntil;  ///< [i]: end of the trusted run that holds byte i; i if it is not trusted
};

/// Finds the special tokens of a vocabulary in text: longest text first, each from left to right (facts: tokenizers,
/// section 4). User-defined tokens are found everywhere, control and unknown tokens in trusted bytes only; filler
/// never. Immutable after creation: any thread. The vocabulary must outlive it.
class SpecialPartition {
public:
    explicit SpecialPartition(const Vocabulary& vocabulary);
    /// O(n log n) in the text, whatever the number of special tokens.
    std::vector<Fragment> split(std::string_view text, const Trust& trust) const;

private:
    struct Candidate {
        TokenId id;
        std::uint32_t length;
        bool needsTrust;
    };
    struct Node {
        std::int32_t candidate = -1;  ///< that ends here
        std::uint32_t firstEdge = 0;
        std::uint32_t edges = 0;
    };
    struct Edge {
        unsigned char byte;
        std::uint32_t node;
    };
    void build(std::vector<TokenId>& sorted);
    const Edge* follow(const Node& node, char byte) const;
    /// The longest candidate at `at` that is shorter than `under` bytes; -1 for none.
    std::int32_t longestAt(std::string_view text, std::size_t at, std::size_t under, const Trust& trust) const;

    const Vocabulary& m_vocabulary;
    std::vector<Candidate> m_candidates;
    std::vector<Node> m_nodes;
    std::vector<Edge> m_edges;
};

}  // namespace firsttoken::engine
