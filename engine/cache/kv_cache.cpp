#include "engine/cache/kv_cache.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace firsttoken::engine {

std::uint32_t SequenceBlocks::held(std::size_t g) const {
    if (g >= tables.size()) return 0;
    return static_cast<std::uint32_t>(tables[g].size()) - m_first[g];
}

void SequenceBlocks::swap(SequenceBlocks& other) noexcept {
    tables.swap(other.tables);
    m_first.swap(other.m_first);
    std::swap(m_cursor, other.m_cursor);
    std::swap(m_published, other.m_published);
    std::swap(m_generation, other.m_generation);
}

KvCache::KvCache(KvCacheConfig config)
    : m_config(std::move(config)),
      m_index(m_config.blockTokens, m_config.groups.size(), m_config.hash, m_config.hashSeed) {
    assert(m_config.blockTokens > 0);
    for (const KvGroup& group : m_config.groups) m_pools.emplace_back(group.blocks);
}

// --- one sequence ---

std::uint32_t KvCache::matchPrefix(std::span<const TokenId> tokens, std::string_view nameSpace,
                                   SequenceBlocks& blocks) {
    assert(blocks.m_cursor == noNode);
    prepare(blocks);
    if (!m_config.prefixCache) return 0;
    const Match match = findPrefix(tokens, nameSpace);
    const std::uint32_t hit = match.blocks * m_config.blockTokens;
    for (std::size_t g = 0; g < m_pools.size(); ++g) {
        auto& table = blocks.tables[g];
        assert(table.empty());
        table.assign(match.blocks, noBlock);
        blocks.m_first[g] = std::min(firstVisibleBlock(g, hit), match.blocks);
        for (std::uint32_t i = blocks.m_first[g]; i < match.blocks; ++i) {
            table[i] = m_index.block(match.path[i], g);
            m_pools[g].reference(table[i]);
        }
    }
    blocks.m_cursor = match.blocks == 0 ? m_index.makeRoot(nameSpace) : match.path[match.blocks - 1];
    m_index.pin(blocks.m_cursor);
    blocks.m_published = match.blocks;
    blocks.m_generation = m_generation;
    return hit;
}

std::uint32_t KvCache::peekPrefix(std::span<const TokenId> tokens, std::string_view nameSpace) const {
    return m_config.prefixCache ? findPrefix(tokens, nameSpace).blocks * m_config.blockTokens : 0;
}

bool KvCache::grow(SequenceBlocks& blocks, std::uint32_t tokens) {
    prepare(blocks);
    for (std::size_t g = 0; g < m_pools.size(); ++g) {
        if (growth(blocks, g, tokens) > freeable(g)) return false;
    }
    for (std::size_t g = 0; g < m_pools.size(); ++g) {
        for (std::uint32_t missing = growth(blocks, g, tokens); missing > 0; --missing) {
            blocks.tables[g].push_back(take(g));
        }
    }
    return true;
}

std::uint32_t KvCache::growth(const SequenceBlocks& blocks, std::size_t g, std::uint32_t tokens) const {
    const std::uint32_t wanted = blocksFor(tokens);
    const std::size_t has = g < blocks.tables.size() ? blocks.tables[g].size() : 0;
    return wanted > has ? wanted - static_cast<std::uint32_t>(has) : 0;
}

void KvCache::publish(SequenceBlocks& blocks, std::span<const TokenId> tokens, std::uint32_t computedTokens) {
    assert(computedTokens <= tokens.size());
    if (blocks.m_cursor == noNode || blocks.m_generation != m_generation) return;
    const std::uint32_t size = m_config.blockTokens;
    while ((blocks.m_published + 1) * size <= computedTokens) {
        publishNext(blocks, tokens.subspan(static_cast<std::size_t>(blocks.m_published) * size, size));
    }
}

void KvCache::publishNext(SequenceBlocks& blocks, std::span<const TokenId> tokens) {
    const std::uint32_t index = blocks.m_published;
    const NodeId node = m_index.makeChild(blocks.m_cursor, tokens);
    m_index.pin(node);
    for (std::size_t g = 0; g < m_pools.size(); ++g) {
        BlockId& mine = blocks.tables[g][index];
        if (mine == noBlock) continue;
        const BlockId known = m_index.block(node, g);
        if (known == noBlock) {
            m_index.setBlock(node, g, mine);
            m_pools[g].publish(mine, node);
        } else {
            m_pools[g].reference(known);
            m_pools[g].unreference(mine);
            mine = known;
        }
    }
    m_index.unpin(blocks.m_cursor);
    blocks.m_cursor = node;
    ++blocks.m_published;
    ++m_prefixVersion;
}

void KvCache::slide(SequenceBlocks& blocks, std::uint32_t computedTokens) {
    for (std::size_t g = 0; g < blocks.tables.size(); ++g) {
        auto& table = blocks.tables[g];
        const std::uint32_t end =
            std::min(firstVisibleBlock(g, computedTokens), static_cast<std::uint32_t>(table.size()));
        for (std::uint32_t& first = blocks.m_first[g]; first < end; ++first) {
            m_pools[g].unreference(table[first]);
            table[first] = noBlock;
        }
    }
}

void KvCache::rewind(SequenceBlocks& blocks) {
    assert(blocks.m_published == 0);
    for (std::size_t g = 0; g < blocks.tables.size(); ++g) {
        if (m_config.groups[g].window > 0) releaseTable(blocks, g);
    }
}

void KvCache::release(SequenceBlocks& blocks) {
    for (std::size_t g = 0; g < blocks.tables.size(); ++g) releaseTable(blocks, g);
    if (blocks.m_cursor != noNode && blocks.m_generation == m_generation) m_index.unpin(blocks.m_cursor);
    blocks.m_cursor = noNode;
    blocks.m_published = 0;
}

// Last blocks first: a block is evicted before those that a match must pass to reach it.
void KvCache::releaseTable(SequenceBlocks& blocks, std::size_t g) {
    auto& table = blocks.tables[g];
    while (table.size() > blocks.m_first[g]) {
        m_pools[g].unreference(table.back());
        table.pop_back();
    }
    table.clear();
    blocks.m_first[g] = 0;
}

void KvCache::prepare(SequenceBlocks& blocks) const {
    blocks.tables.resize(m_pools.size());
    blocks.m_first.resize(m_pools.size(), 0);
}

// --- all of it ---

BlockCounts KvCache::counts() const {
    BlockCounts sum;
    for (const BlockPool& pool : m_pools) {
        const BlockCounts one = pool.counts();
        sum.total += one.total;
        sum.free += one.free;
        sum.cached += one.cached;
        sum.referenced += one.referenced;
    }
    return sum;
}

std::uint32_t KvCache::freeable(std::size_t g) const {
    const BlockCounts pool = m_pools[g].counts();
    return pool.free + pool.cached;
}

std::uint32_t KvCache::blocksNeeded(std::size_t g, std::uint32_t tokens, std::uint32_t chunk) const {
    if (m_config.groups[g].window == 0 || tokens == 0) return blocksFor(tokens);
    chunk = std::clamp(chunk, 1U, tokens);
    // A step of `chunk` rows from position c on holds what c sees and the chunk: window - 1 + chunk positions.
    const std::uint32_t size = m_config.blockTokens;
    const std::uint32_t last = tokens - chunk;
    const std::uint32_t start = last - std::min(last, size - 1);
    if (firstVisibleBlock(g, last) == 0) return blocksFor(tokens);
    std::uint32_t most = 0;
    for (std::uint32_t c = start; c <= last; ++c) most = std::max(most, blocksFor(c + chunk) - firstVisibleBlock(g, c));
    return most;
}

std::uint32_t KvCache::largestSequence() const {
    const auto fits = [this](std::uint32_t tokens) {
        for (std::size_t g = 0; g < m_pools.size(); ++g) {
            if (blocksNeeded(g, tokens, 1) > m_config.groups[g].blocks) return false;
        }
        return true;
    };
    std::uint32_t low = 0;
    std::uint32_t high = 0x7FFFFFFFU;
    while (low < high) {
        const std::uint32_t middle = low + (high - low + 1) / 2;
        if (fits(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

void KvCache::clearPrefixes() {
    for (BlockPool& pool : m_pools) {
        for (BlockId block = 0; block < pool.counts().total; ++block) pool.unpublish(block);
    }
    m_index.clear();
    ++m_generation;
    ++m_prefixVersion;
}

KvCache::Match KvCache::findPrefix(std::span<const TokenId> tokens, std::string_view nameSpace) const {
    Match match;
    const std::uint32_t size = m_config.blockTokens;
    NodeId node = m_index.root(nameSpace);
    if (node == noNode || tokens.empty()) return match;
    const auto most = static_cast<std::uint32_t>((tokens.size() - 1) / size);
    std::vector<std::uint32_t> run(m_pools.size(), 0);  // by group: blocks in a row that end here
    for (std::uint32_t i = 0; i < most; ++i) {
        node = m_index.child(node, tokens.subspan(static_cast<std::size_t>(i) * size, size));
        if (node == noNode) break;
        match.path.push_back(node);
        bool whole = true;
        for (std::size_t g = 0; g < run.size(); ++g) {
            run[g] = m_index.block(node, g) == noBlock ? 0 : run[g] + 1;
            if (m_config.groups[g].window == 0 && run[g] == 0) return match;  // nothing longer can be whole
            whole = whole && run[g] >= i + 1 - std::min(firstVisibleBlock(g, (i + 1) * size), i + 1);
        }
        if (whole) match.blocks = i + 1;
    }
    return match;
}

std::uint32_t KvCache::blocksFor(std::uint32_t tokens) const {
    return tokens / m_config.blockTokens + (tokens % m_config.blockTokens == 0 ? 0U : 1U);
}

// The block of the first position that a query at `position` sees: position - window + 1.
std::uint32_t KvCache::firstVisibleBlock(std::size_t g, std::uint32_t position) const {
    const std::uint32_t window = m_config.groups[g].window;
    return window == 0 || position < window ? 0 : (position - window + 1) / m_config.blockTokens;
}

// Pre: freeable(g) > 0.
BlockId KvCache::take(std::size_t g) {
    BlockPool& pool = m_pools[g];
    if (const BlockId block = pool.takeFree(); block != noBlock) return block;
    const BlockId evicted = pool.oldestCached();
    assert(evicted != noBlock);
    m_index.setBlock(pool.node(evicted), g, noBlock);
    pool.unpublish(evicted);
    ++m_prefixVersion;
    return pool.takeFree();
}

std::string KvCache::checkInvariants(std::span<const SequenceBlocks* const> live) const {
    std::vector<std::vector<std::uint32_t>> references;
    for (const BlockPool& pool : m_pools) references.emplace_back(pool.counts().total, 0);
    std::size_t pins = 0;
    for (const SequenceBlocks* blocks : live) {
        if (blocks->m_cursor != noNode && blocks->m_generation == m_generation) ++pins;
        for (std::size_t g = 0; g < blocks->tables.size(); ++g) {
            for (std::size_t i = 0; i < blocks->tables[g].size(); ++i) {
                const BlockId block = blocks->tables[g][i];
                const bool gone = i < blocks->m_first[g];
                if (gone != (block == noBlock)) return "a table has a hole, or holds what it gave back";
                if (!gone && block >= references[g].size()) return "a table holds a block that there is not";
                if (!gone) ++references[g][block];
            }
        }
    }
    std::size_t published = 0;
    for (std::size_t g = 0; g < m_pools.size(); ++g) {
        const BlockPool& pool = m_pools[g];
        const std::string where = "group " + std::to_string(g) + ": ";
        if (std::string wrong = pool.check(); !wrong.empty()) return where + wrong;
        for (BlockId block = 0; block < references[g].size(); ++block) {
            if (references[g][block] != pool.references(block)) {
                return where + "block " + std::to_string(block) + " has " + std::to_string(pool.references(block)) +
                       " references, and is in " + std::to_string(references[g][block]) + " tables";
            }
            const NodeId node = pool.node(block);
            if (node == noNode) continue;
            ++published;
            if (m_index.block(node, g) != block) return where + "a published block is not in its node";
            // Else no match could pass from the namespace's root to this block.
            const NodeId above = m_index.parent(node);
            const bool mustHaveParent = m_config.groups[g].window == 0 && m_index.parent(above) != noNode;
            if (mustHaveParent && m_index.block(above, g) == noBlock) return where + "a block cannot be reached";
        }
    }
    if (published != m_index.blocks()) return "the index names a block that the pools do not publish";
    return m_index.check(pins);
}

}  // namespace firsttoken::engine
