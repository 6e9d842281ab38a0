#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/cache/block_pool.h"

namespace firsttoken::engine {

/// Hash of a block's token ids below a parent node. Only speed depends on it: every match compares the ids.
using TokenHash = std::function<std::uint64_t(NodeId parent, std::span<const TokenId> tokens)>;

/// What token sequences have known KV: a forest with a root a namespace, a node a full block of token ids. A node
/// names one block in each layer group, or noBlock. A node lives while it names a block, has children or is pinned.
/// It counts no references: KvCache does. Engine loop's thread only.
class PrefixIndex {
public:
    PrefixIndex(std::uint32_t blockTokens, std::size_t groups, TokenHash hash, std::uint64_t seed);

    /// The namespace's root; noNode if nothing is known under it.
    NodeId root(std::string_view nameSpace) const;
    /// The root, made where it is missing. Pin it at once.
    NodeId makeRoot(std::string_view nameSpace);
    /// The child of `parent` with exactly these ids; noNode if there is none.
    NodeId child(NodeId parent, std::span<const TokenId> tokens) const;
    /// The child, made where it is missing. Give it a block or pin it at once.
    NodeId makeChild(NodeId parent, std::span<const TokenId> tokens);

    BlockId block(NodeId node, std::size_t group) const { return m_blocks[node * m_groups + group]; }
    /// noBlock takes the block away; the node and its ancestors go if nothing else keeps them.
    void setBlock(NodeId node, std::size_t group, BlockId block);
    NodeId parent(NodeId node) const { return m_nodes[node].parent; }
    void pin(NodeId node) { ++m_nodes[node].pins; }
    void unpin(NodeId node);

    void clear();
    std::size_t nodes() const { return m_live; }
    /// Blocks that nodes name, all groups together.
    std::size_t blocks() const;
    /// Recounts from scratch; what is wrong, or empty. `pins`: of all holders together.
    std::string check(std::size_t pins) const;

private:
    struct Node {
        NodeId parent = noNode;
        std::uint64_t hash = 0;
        std::uint32_t children = 0;
        std::uint32_t pins = 0;
        std::uint32_t blocks = 0;                ///< groups that have one
        const std::string* nameSpace = nullptr;  ///< of a root: its key in m_roots
        bool live = false;
    };
    NodeId makeNode(NodeId parent);
    void prune(NodeId node);
    std::span<const TokenId> tokens(NodeId node) const;

    std::uint32_t m_blockTokens;
    std::size_t m_groups;
    TokenHash m_hash;
    std::vector<Node> m_nodes;
    std::vector<TokenId> m_tokens;  ///< blockTokens a node
    std::vector<BlockId> m_blocks;  ///< groups a node
    std::vector<NodeId> m_spare;    ///< slots of dead nodes
    std::size_t m_live = 0;
    std::unordered_map<std::string, NodeId> m_roots;
    std::unordered_multimap<std::uint64_t, NodeId> m_byHash;  ///< all nodes but the roots
};

}  // namespace firsttoken::engine
