#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/compute/backend.h"

namespace firsttoken::engine {

/// No block: a table entry that no query looks at.
inline constexpr BlockId noBlock = 0xFFFFFFFFU;

/// A node of the prefix index.
using NodeId = std::uint32_t;
inline constexpr NodeId noNode = 0xFFFFFFFFU;

struct BlockCounts {
    std::uint32_t total = 0;
    std::uint32_t free = 0;
    std::uint32_t cached = 0;
    std::uint32_t referenced = 0;
    bool operator==(const BlockCounts&) const = default;
};

/// The block ids of one layer group with their reference counts, and the cached ones in order of last use.
/// Every operation is O(1). Engine loop's thread only.
class BlockPool {
public:
    explicit BlockPool(std::uint32_t blocks);

    /// A free block, now with one reference; noBlock if none is free.
    BlockId takeFree();
    /// One more reference to a cached or referenced block.
    void reference(BlockId block);
    /// One reference less. The last one makes a published block cached (as the most recently used), another free.
    void unreference(BlockId block);
    /// The cached block that was not used for the longest time; noBlock if none is cached.
    BlockId oldestCached() const { return m_oldest; }

    /// The index node that publishes the block; noNode: none.
    NodeId node(BlockId block) const { return m_blocks[block].node; }
    void publish(BlockId block, NodeId node);
    /// Takes the block out of the index; a cached one becomes free.
    void unpublish(BlockId block);

    std::uint32_t references(BlockId block) const { return m_blocks[block].references; }
    BlockCounts counts() const { return m_counts; }
    /// Recounts from scratch; what is wrong, or empty.
    std::string check() const;

private:
    struct Block {
        std::uint32_t references = 0;
        NodeId node = noNode;
        BlockId older = noBlock;  ///< neighbours in the list of cached blocks
        BlockId newer = noBlock;
    };
    void appendNewest(BlockId block);
    void unlink(BlockId block);

    std::vector<Block> m_blocks;
    std::vector<BlockId> m_free;  ///< a stack
    BlockId m_oldest = noBlock;
    BlockId m_newest = noBlock;
    BlockCounts m_counts;
};

}  // namespace firsttoken::engine
