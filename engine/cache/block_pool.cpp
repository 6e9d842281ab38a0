#include "engine/cache/block_pool.h"

#include <cassert>

namespace firsttoken::engine {

BlockPool::BlockPool(std::uint32_t blocks) : m_blocks(blocks) {
    m_counts.total = blocks;
    m_counts.free = blocks;
    m_free.reserve(blocks);
    for (std::uint32_t i = blocks; i > 0; --i) m_free.push_back(i - 1);
}

BlockId BlockPool::takeFree() {
    if (m_free.empty()) return noBlock;
    const BlockId block = m_free.back();
    m_free.pop_back();
    m_blocks[block].references = 1;
    --m_counts.free;
    ++m_counts.referenced;
    return block;
}

void BlockPool::reference(BlockId block) {
    Block& entry = m_blocks[block];
    assert(entry.references > 0 || entry.node != noNode);
    if (entry.references++ > 0) return;
    unlink(block);
    --m_counts.cached;
    ++m_counts.referenced;
}

void BlockPool::unreference(BlockId block) {
    Block& entry = m_blocks[block];
    assert(entry.references > 0);
    if (--entry.references > 0) return;
    --m_counts.referenced;
    if (entry.node != noNode) {
        appendNewest(block);
        ++m_counts.cached;
    } else {
        m_free.push_back(block);
        ++m_counts.free;
    }
}

void BlockPool::publish(BlockId block, NodeId node) {
    Block& entry = m_blocks[block];
    assert(entry.references > 0 && entry.node == noNode && node != noNode);
    entry.node = node;
}

void BlockPool::unpublish(BlockId block) {
    Block& entry = m_blocks[block];
    if (entry.node == noNode) return;
    entry.node = noNode;
    if (entry.references > 0) return;
    unlink(block);
    --m_counts.cached;
    m_free.push_back(block);
    ++m_counts.free;
}

void BlockPool::appendNewest(BlockId block) {
    Block& entry = m_blocks[block];
    entry.older = m_newest;
    entry.newer = noBlock;
    (m_newest == noBlock ? m_oldest : m_blocks[m_newest].newer) = block;
    m_newest = block;
}

void BlockPool::unlink(BlockId block) {
    Block& entry = m_blocks[block];
    (entry.older == noBlock ? m_oldest : m_blocks[entry.older].newer) = entry.newer;
    (entry.newer == noBlock ? m_newest : m_blocks[entry.newer].older) = entry.older;
    entry.older = noBlock;
    entry.newer = noBlock;
}

std::string BlockPool::check() const {
    BlockCounts found;
    found.total = static_cast<std::uint32_t>(m_blocks.size());
    std::uint32_t cachedBlocks = 0;
    for (const Block& block : m_blocks) {
        if (block.references > 0) ++found.referenced;
        if (block.references == 0 && block.node != noNode) ++cachedBlocks;
    }
    std::vector<bool> seen(m_blocks.size(), false);
    for (const BlockId block : m_free) {
        const Block& entry = m_blocks[block];
        if (seen[block]) return "block " + std::to_string(block) + " is free twice";
        if (entry.references > 0 || entry.node != noNode) return "block " + std::to_string(block) + " is free and used";
        seen[block] = true;
        ++found.free;
    }
    for (BlockId block = m_oldest; block != noBlock; block = m_blocks[block].newer) {
        const Block& entry = m_blocks[block];
        if (seen[block]) return "block " + std::to_string(block) + " is listed twice";
        if (entry.references > 0 || entry.node == noNode) {
            return "block " + std::to_string(block) + " is in the list of cached blocks and is not cached";
        }
        seen[block] = true;
        ++found.cached;
    }
    if (found.cached != cachedBlocks) return "a cached block is not in the list";
    if (found.free + found.cached + found.referenced != found.total) return "free + cached + referenced != total";
    if (!(found == m_counts)) return "the counts of the pool are wrong";
    return {};
}

}  // namespace firsttoken::engine
