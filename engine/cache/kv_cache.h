#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cache/block_pool.h"
#include "engine/cache/prefix_index.h"
#include "engine/compute/backend.h"

/// Owner of the KV block ids of every layer group, and of what the prefix cache knows about them. The memory behind
/// an id belongs to the backend. Engine loop's thread only.
///
/// A block is free (nobody's), referenced (in the table of one or more sequences) or cached (in no table, but its
/// KV is known by the token ids that made it, and may be taken again or evicted).
namespace firsttoken::engine {

/// One layer group's pool.
struct KvGroup {
    std::uint32_t blocks = 0;  ///< of the pool: ids 0 … blocks-1
    std::uint32_t window = 0;  ///< tokens that a query sees, its own included; 0 = all
};

struct KvCacheConfig {
    std::uint32_t blockTokens = 16;
    std::vector<KvGroup> groups;
    bool prefixCache = true;     ///< false: never hits, publishes nothing
    TokenHash hash;              ///< of the prefix index; empty: its own. Any function gives right answers
    std::uint64_t hashSeed = 0;  ///< makes the index's own hash unpredictable to callers
};

/// The blocks of one sequence, a value that its owner hands to KvCache's functions. It must be released before it is
/// destroyed. tables[g][position / blockTokens] is the block of group g; `noBlock` where no later query looks.
struct SequenceBlocks {
    std::vector<std::vector<BlockId>> tables;

    SequenceBlocks() = default;
    SequenceBlocks(SequenceBlocks&& other) noexcept { swap(other); }
    SequenceBlocks& operator=(SequenceBlocks&& other) noexcept {
        swap(other);
        return *this;
    }
    SequenceBlocks(const SequenceBlocks&) = delete;
    SequenceBlocks& operator=(const SequenceBlocks&) = delete;
    ~SequenceBlocks() = default;

    /// Blocks held in group g.
    std::uint32_t held(std::size_t g) const;
    void swap(SequenceBlocks& other) noexcept;

private:
    friend class KvCache;
    std::vector<std::uint32_t> m_first;  ///< by group: table entries before it are noBlock
    NodeId m_cursor = noNode;            ///< pinned node of the last published block, or the namespace's root
    std::uint32_t m_published = 0;       ///< leading blocks that are in the index
    std::uint64_t m_generation = 0;      ///< of the index when the cursor was taken
};

class KvCache {
public:
    explicit KvCache(KvCacheConfig config);

    // --- one sequence ---

    /// Takes the longest reusable prefix of `tokens` from the cache into `blocks` (which must hold nothing) and
    /// returns its length in tokens: a multiple of blockTokens, at most tokens.size() - 1, so that at least one
    /// token is left to compute. Every token id of it was compared. `nameSpace` covers whatever else the KV depends
    /// on (model, adapter, KV precision, RoPE settings, the caller's salt); the sequence publishes under it.
    std::uint32_t matchPrefix(std::span<const TokenId> tokens, std::string_view nameSpace, SequenceBlocks& blocks);
    /// What matchPrefix() would return; takes nothing.
    std::uint32_t peekPrefix(std::span<const TokenId> tokens, std::string_view nameSpace) const;
    /// Makes every table cover positions [0, tokens). All or nothing: false if a group cannot, free blocks first,
    /// then the longest unused cached ones. Entries that exist already stay as they are.
    bool grow(SequenceBlocks& blocks, std::uint32_t tokens);
    /// Blocks that grow() would take in group g.
    std::uint32_t growth(const SequenceBlocks& blocks, std::size_t g, std::uint32_t tokens) const;
    /// Makes the full blocks within the first `computedTokens` of `tokens` shareable. Where the index has an equal
    /// block already, the sequence goes over to that one and gives its own back. Needs an earlier matchPrefix().
    /// Call it before slide().
    void publish(SequenceBlocks& blocks, std::span<const TokenId> tokens, std::uint32_t computedTokens);
    /// Windowed groups give back what a query at `computedTokens` or later cannot see (p0 sees p1 iff p1-p0 < window).
    void slide(SequenceBlocks& blocks, std::uint32_t computedTokens);
    /// For a sequence that will be computed from position 0 again in the same memory: full-attention groups keep
    /// their blocks, windowed ones give all back. Only for sequences that share and publish nothing.
    void rewind(SequenceBlocks& blocks);
    /// Gives everything back, last blocks first: published ones become cached, others free. Safe twice.
    void release(SequenceBlocks& blocks);

    // --- all of it ---

    std::uint32_t blockTokens() const { return m_config.blockTokens; }
    bool publishes() const { return m_config.prefixCache; }
    std::span<const KvGroup> groups() const { return m_config.groups; }
    BlockCounts counts(std::size_t g) const { return m_pools[g].counts(); }
    /// Summed over the groups.
    BlockCounts counts() const;
    /// Blocks of group g that a sequence could get: free and cached ones.
    std::uint32_t freeable(std::size_t g) const;
    /// Most blocks of group g that a sequence alone holds at once on its way from 0 to `tokens` computed positions,
    /// in steps of at most `chunk` rows (1 or more).
    std::uint32_t blocksNeeded(std::size_t g, std::uint32_t tokens, std::uint32_t chunk) const;
    /// Greatest number of positions that one sequence alone can have in the pools, computed row by row.
    std::uint32_t largestSequence() const;
    /// Forgets every prefix: cached blocks become free, and sequences under way publish nothing more.
    void clearPrefixes();
    /// Counts up whenever a prefix may have become longer or shorter.
    std::uint64_t prefixVersion() const { return m_prefixVersion; }

    /// Recounts everything from scratch. `live`: every SequenceBlocks that holds something (a complete list).
    /// Returns what is wrong, or an empty string.
    std::string checkInvariants(std::span<const SequenceBlocks* const> live) const;

private:
    struct Match {
        std::uint32_t blocks = 0;
        std::vector<NodeId> path;
    };
    Match findPrefix(std::span<const TokenId> tokens, std::string_view nameSpace) const;
    std::uint32_t blocksFor(std::uint32_t tokens) const;
    std::uint32_t firstVisibleBlock(std::size_t g, std::uint32_t position) const;
    void prepare(SequenceBlocks& blocks) const;
    BlockId take(std::size_t g);
    void publishNext(SequenceBlocks& blocks, std::span<const TokenId> tokens);
    void releaseTable(SequenceBlocks& blocks, std::size_t g);

    KvCacheConfig m_config;
    std::vector<BlockPool> m_pools;  ///< by group
    PrefixIndex m_index;
    std::uint64_t m_prefixVersion = 0;
    std::uint64_t m_generation = 0;  ///< counts clearPrefixes()
};

}  // namespace firsttoken::engine
