#include "engine/cache/prefix_index.h"

#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace firsttoken::engine {

PrefixIndex::PrefixIndex(std::uint32_t blockTokens, std::size_t groups, TokenHash hash, std::uint64_t seed)
    : m_blockTokens(blockTokens), m_groups(groups), m_hash(std::move(hash)) {
    if (m_hash) return;
    m_hash = [seed](NodeId parent, std::span<const TokenId> tokens) -> std::uint64_t {
        return XXH64(tokens.data(), tokens.size_bytes(), seed + parent * 0x9E3779B97F4A7C15ULL);
    };
}

NodeId PrefixIndex::root(std::string_view nameSpace) const {
    const auto found = m_roots.find(std::string(nameSpace));
    return found == m_roots.end() ? noNode : found->second;
}

NodeId PrefixIndex::makeRoot(std::string_view nameSpace) {
    const auto [entry, isNew] = m_roots.try_emplace(std::string(nameSpace), noNode);
    if (isNew) {
        entry->second = makeNode(noNode);
        m_nodes[entry->second].nameSpace = &entry->first;
    }
    return entry->second;
}

NodeId PrefixIndex::child(NodeId parent, std::span<const TokenId> wanted) const {
    const auto [first, last] = m_byHash.equal_range(m_hash(parent, wanted));
    for (auto candidate = first; candidate != last; ++candidate) {
        if (m_nodes[candidate->second].parent != parent) continue;
        const auto held = tokens(candidate->second);
        if (std::equal(held.begin(), held.end(), wanted.begin(), wanted.end())) return candidate->second;
    }
    return noNode;
}

NodeId PrefixIndex::makeChild(NodeId parent, std::span<const TokenId> wanted) {
    assert(wanted.size() == m_blockTokens);
    if (const NodeId known = child(parent, wanted); known != noNode) return known;
    const NodeId node = makeNode(parent);
    std::copy(wanted.begin(), wanted.end(), m_tokens.begin() + static_cast<std::ptrdiff_t>(node) * m_blockTokens);
    m_nodes[node].hash = m_hash(parent, wanted);
    m_byHash.emplace(m_nodes[node].hash, node);
    ++m_nodes[parent].children;
    return node;
}

void PrefixIndex::setBlock(NodeId node, std::size_t group, BlockId block) {
    BlockId& entry = m_blocks[node * m_groups + group];
    Node& holder = m_nodes[node];
    if (entry != noBlock) --holder.blocks;
    if (block != noBlock) ++holder.blocks;
    entry = block;
    if (block == noBlock) prune(node);
}

void PrefixIndex::unpin(NodeId node) {
    assert(m_nodes[node].pins > 0);
    --m_nodes[node].pins;
    prune(node);
}

void PrefixIndex::clear() {
    m_nodes.clear();
    m_tokens.clear();
    m_blocks.clear();
    m_spare.clear();
    m_roots.clear();
    m_byHash.clear();
    m_live = 0;
}

std::size_t PrefixIndex::blocks() const {
    std::size_t sum = 0;
    for (const Node& node : m_nodes) sum += node.blocks;
    return sum;
}

NodeId PrefixIndex::makeNode(NodeId parent) {
    NodeId node = noNode;
    if (m_spare.empty()) {
        node = static_cast<NodeId>(m_nodes.size());
        m_nodes.emplace_back();
        m_tokens.resize(m_tokens.size() + m_blockTokens);
        m_blocks.resize(m_blocks.size() + m_groups, noBlock);
    } else {
        node = m_spare.back();
        m_spare.pop_back();
    }
    m_nodes[node] = Node{};
    m_nodes[node].parent = parent;
    m_nodes[node].live = true;
    ++m_live;
    return node;
}

// Iterative: a chain can be as long as the longest context.
void PrefixIndex::prune(NodeId node) {
    while (node != noNode) {
        Node& entry = m_nodes[node];
        if (entry.blocks > 0 || entry.children > 0 || entry.pins > 0) return;
        const NodeId above = entry.parent;
        if (above == noNode) {
            m_roots.erase(*entry.nameSpace);
        } else {
            const auto [first, last] = m_byHash.equal_range(entry.hash);
            for (auto candidate = first; candidate != last; ++candidate) {
                if (candidate->second != node) continue;
                m_byHash.erase(candidate);
                break;
            }
            --m_nodes[above].children;
        }
        entry = Node{};
        m_spare.push_back(node);
        --m_live;
        node = above;
    }
}

std::span<const TokenId> PrefixIndex::tokens(NodeId node) const {
    return std::span<const TokenId>(m_tokens).subspan(static_cast<std::size_t>(node) * m_blockTokens, m_blockTokens);
}

std::string PrefixIndex::check(std::size_t pins) const {
    std::vector<std::uint32_t> children(m_nodes.size(), 0);
    std::size_t live = 0;
    std::size_t roots = 0;
    std::size_t foundPins = 0;
    for (NodeId i = 0; i < m_nodes.size(); ++i) {
        const Node& node = m_nodes[i];
        if (!node.live) continue;
        ++live;
        foundPins += node.pins;
        if (node.parent == noNode) {
            ++roots;
            if (node.nameSpace == nullptr || root(*node.nameSpace) != i) return "a root is not under its namespace";
        } else {
            if (!m_nodes[node.parent].live) return "a node has a dead parent";
            ++children[node.parent];
            if (child(node.parent, tokens(i)) != i) return "a node is not found by its tokens";
        }
        std::uint32_t blocks = 0;
        for (std::size_t g = 0; g < m_groups; ++g) blocks += block(i, g) == noBlock ? 0U : 1U;
        if (blocks != node.blocks) return "a node counts its blocks wrongly";
        if (node.blocks == 0 && node.children == 0 && node.pins == 0) return "a node lives for nothing";
    }
    for (NodeId i = 0; i < m_nodes.size(); ++i) {
        if (children[i] != m_nodes[i].children) return "a node counts its children wrongly";
    }
    if (live != m_live || live + m_spare.size() != m_nodes.size()) return "the index counts its nodes wrongly";
    if (roots != m_roots.size() || live != roots + m_byHash.size()) return "the index's tables and nodes disagree";
    if (foundPins != pins) return "the index counts its pins wrongly";
    return {};
}

}  // namespace firsttoken::engine
