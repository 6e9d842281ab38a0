#include "engine/text/special_partition.h"

#include <algorithm>
#include <queue>

namespace firsttoken::engine {

namespace {

bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// What each byte of the text belongs to so far.
constexpr std::int32_t freeByte = -1;
constexpr std::int32_t droppedByte = -2;

}  // namespace

Trust::Trust(const std::vector<bool>& bytes) : m_trustedUntil(bytes.size()) {
    std::size_t end = bytes.size();
    for (std::size_t i = bytes.size(); i > 0; --i) {
        if (!bytes[i - 1]) end = i - 1;
        m_trustedUntil[i - 1] = end;
    }
}

bool Trust::covers(std::size_t from, std::size_t to) const {
    return m_everything || (from < m_trustedUntil.size() && m_trustedUntil[from] >= to);
}

SpecialPartition::SpecialPartition(const Vocabulary& vocabulary) : m_vocabulary(vocabulary) {
    std::vector<TokenId> ids;
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
        const TokenType type = vocabulary.types[i];
        const bool special = type == TokenType::Control || type == TokenType::UserDefined || type == TokenType::Unknown;
        if (special && !vocabulary.texts[i].empty() && !isFiller(vocabulary.texts[i])) {
            ids.push_back(static_cast<TokenId>(i));
        }
    }
    std::stable_sort(ids.begin(), ids.end(),
                     [&](TokenId a, TokenId b) { return vocabulary.textOf(a) < vocabulary.textOf(b); });
    // Of equal texts the first one counts.
    ids.erase(std::unique(ids.begin(), ids.end(),
                          [&](TokenId a, TokenId b) { return vocabulary.textOf(a) == vocabulary.textOf(b); }),
              ids.end());
    build(ids);
}

void SpecialPartition::build(std::vector<TokenId>& sorted) {
    struct Range {
        std::size_t begin, end, depth;
    };
    m_nodes.emplace_back();
    std::vector<Range> ranges = {{0, sorted.size(), 0}};
    // Breadth first, so that the edges of a node lie together.
    for (std::size_t n = 0; n < ranges.size(); ++n) {
        const Range range = ranges[n];
        std::size_t i = range.begin;
        if (i < range.end && m_vocabulary.textOf(sorted[i]).size() == range.depth) {
            const TokenId id = sorted[i++];
            m_nodes[n].candidate = static_cast<std::int32_t>(m_candidates.size());
            m_candidates.push_back(
                {id, static_cast<std::uint32_t>(range.depth), m_vocabulary.typeOf(id) != TokenType::UserDefined});
        }
        m_nodes[n].firstEdge = static_cast<std::uint32_t>(m_edges.size());
        while (i < range.end) {
            const auto byteOf = [&](std::size_t k) {
                return static_cast<unsigned char>(m_vocabulary.textOf(sorted[k])[range.depth]);
            };
            const unsigned char byte = byteOf(i);
            std::size_t end = i;
            while (end < range.end && byteOf(end) == byte) ++end;
            m_edges.push_back({byte, static_cast<std::uint32_t>(m_nodes.size())});
            m_nodes.emplace_back();
            ranges.push_back({i, end, range.depth + 1});
            ++m_nodes[n].edges;
            i = end;
        }
    }
}

const SpecialPartition::Edge* SpecialPartition::follow(const Node& node, char byte) const {
    const auto first = m_edges.begin() + node.firstEdge;
    const auto last = first + node.edges;
    const auto wanted = static_cast<unsigned char>(byte);
    const auto found =
        std::lower_bound(first, last, wanted, [](const Edge& edge, unsigned char value) { return edge.byte < value; });
    return found != last && found->byte == wanted ? &*found : nullptr;
}

std::int32_t SpecialPartition::longestAt(std::string_view text, std::size_t at, std::size_t under,
                                         const Trust& trust) const {
    std::int32_t best = -1;
    const Node* node = &m_nodes[0];
    for (std::size_t i = at; i < text.size() && i - at + 1 < under; ++i) {
        const Edge* edge = follow(*node, text[i]);
        if (edge == nullptr) break;
        node = &m_nodes[edge->node];
        if (node->candidate < 0) continue;
        const Candidate& candidate = m_candidates[static_cast<std::size_t>(node->candidate)];
        if (!candidate.needsTrust || trust.covers(at, i + 1)) best = node->candidate;
    }
    return best;
}

std::vector<Fragment> SpecialPartition::split(std::string_view text, const Trust& trust) const {
    struct Offer {
        std::uint32_t length;
        std::int32_t candidate;
        std::size_t at;
    };
    // Longest first; of equal length the lower id, then from left to right.
    const auto later = [this](const Offer& a, const Offer& b) {
        if (a.length != b.length) return a.length < b.length;
        if (a.candidate != b.candidate) {
            return m_candidates[static_cast<std::size_t>(a.candidate)].id >
                   m_candidates[static_cast<std::size_t>(b.candidate)].id;
        }
        return a.at > b.at;
    };
    std::priority_queue<Offer, std::vector<Offer>, decltype(later)> offers(later);
    const auto offer = [&](std::size_t at, std::size_t under) {
        const std::int32_t found = longestAt(text, at, under, trust);
        if (found >= 0) offers.push({m_candidates[static_cast<std::size_t>(found)].length, found, at});
    };
    for (std::size_t at = 0; at < text.size(); ++at) offer(at, std::string_view::npos);
    if (offers.empty()) return text.empty() ? std::vector<Fragment>() : std::vector<Fragment>{{text, std::nullopt}};

    std::vector<std::int32_t> owner(text.size(), freeByte);
    while (!offers.empty()) {
        const Offer top = offers.top();
        offers.pop();
        const auto first = owner.begin() + static_cast<std::ptrdiff_t>(top.at);
        if (*first != freeByte) continue;
        const auto last = first + static_cast<std::ptrdiff_t>(top.length);
        if (std::any_of(first, last, [](std::int32_t byte) { return byte != freeByte; })) {
            offer(top.at, top.length);  // a shorter one may still fit
            continue;
        }
        std::fill(first, last, top.candidate);
        const TokenId id = m_candidates[static_cast<std::size_t>(top.candidate)].id;
        if (!m_vocabulary.stripsAfter[static_cast<std::size_t>(id)]) continue;
        for (std::size_t i = top.at + top.length; i < text.size() && owner[i] == freeByte && isSpace(text[i]); ++i) {
            owner[i] = droppedByte;
        }
    }

    std::vector<Fragment> fragments;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        if (owner[at] >= 0) {
            const Candidate& candidate = m_candidates[static_cast<std::size_t>(owner[at])];
            end = at + candidate.length;
            fragments.push_back({text.substr(at, candidate.length), candidate.id});
        } else {
            while (end < text.size() && owner[end] == owner[at]) ++end;
            if (owner[at] == freeByte) fragments.push_back({text.substr(at, end - at), std::nullopt});
        }
        at = end;
    }
    return fragments;
}

}  // namespace firsttoken::engine
