#include <QtTest>
#include <numeric>

#include "engine/cache/kv_cache.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestKvCache : public QObject {
    Q_OBJECT

private slots:
    void hitsWholeBlocksButNeverTheLastToken();
    void partialHitsEndWhereTokensDiffer();
    void ghsaRm76_hashCollisionsNeverShareKv();
    void namespacesShareNothing();
    void growIsAllOrNothing();
    void growEvictsTheLongestUnusedLeafFirst();
    void equalBlocksAreKeptOnce();
    void windowGivesBackWhatNobodySees();
    void llamacpp14157_windowedHitNeedsTheWindowOnly();
    void windowedHitIsShorterWhereTheWindowIsIncomplete();
    void blocksNeededIsExact();
    void largestSequenceFits();
    void withoutPrefixCacheNothingIsShared();
    void releaseIsSafeTwice();
    void clearPrefixesStopsSequencesUnderWay();
    void rewindKeepsFullAttentionMemory();
    void sglang6778_randomLivesLeakNothing();
};

namespace {

std::vector<TokenId> range(TokenId first, std::size_t count) {
    std::vector<TokenId> tokens(count);
    std::iota(tokens.begin(), tokens.end(), first);
    return tokens;
}

KvCacheConfig config(std::uint32_t blockTokens, std::vector<KvGroup> groups) {
    KvCacheConfig made;
    made.blockTokens = blockTokens;
    made.groups = std::move(groups);
    return made;
}

/// Takes what is cached, computes the rest and publishes it; the hit's length.
std::uint32_t compute(KvCache& cache, const std::vector<TokenId>& tokens, SequenceBlocks& blocks,
                      std::string_view nameSpace = "m") {
    const std::uint32_t hit = cache.matchPrefix(tokens, nameSpace, blocks);
    const auto length = static_cast<std::uint32_t>(tokens.size());
    if (!cache.grow(blocks, length)) return 0xFFFFFFFFU;
    cache.publish(blocks, tokens, length);
    cache.slide(blocks, length);
    return hit;
}

/// The same, and released.
std::uint32_t live(KvCache& cache, const std::vector<TokenId>& tokens, std::string_view nameSpace = "m") {
    SequenceBlocks blocks;
    const std::uint32_t hit = compute(cache, tokens, blocks, nameSpace);
    cache.release(blocks);
    return hit;
}

QString wrong(const KvCache& cache, std::vector<const SequenceBlocks*> live = {}) {
    return QString::fromStdString(cache.checkInvariants(live));
}

}  // namespace

void TestKvCache::hitsWholeBlocksButNeverTheLastToken() {
    KvCache cache(config(4, {{64, 0}}));
    QCOMPARE(live(cache, range(0, 12)), 0U);
    for (std::uint32_t length = 1; length <= 20; ++length) {
        const std::uint32_t expected = std::min((length - 1) / 4 * 4, 12U);
        QCOMPARE(cache.peekPrefix(range(0, length), "m"), expected);
    }
    QCOMPARE(live(cache, range(0, 12)), 8U);
    QCOMPARE(live(cache, range(0, 13)), 12U);
    QCOMPARE(wrong(cache), QString());
}

void TestKvCache::partialHitsEndWhereTokensDiffer() {
    // tenstorrent/vllm 415: every boundary.
    KvCache cache(config(4, {{64, 0}}));
    const auto base = range(0, 32);
    live(cache, base);
    for (std::uint32_t at = 0; at < 32; ++at) {
        auto other = base;
        other[at] = 999;
        QCOMPARE(cache.peekPrefix(other, "m"), std::min(at / 4 * 4, 28U));
    }
}

void TestKvCache::ghsaRm76_hashCollisionsNeverShareKv() {
    for (const std::uint64_t mask : {std::uint64_t{15}, std::uint64_t{0}}) {
        KvCacheConfig weak = config(2, {{512, 0}});
        weak.hash = [mask](NodeId parent, std::span<const TokenId> tokens) -> std::uint64_t {
            return (parent + static_cast<std::uint64_t>(tokens[0])) & mask;
        };
        KvCache cache(std::move(weak));
        std::vector<SequenceBlocks> held(40);
        for (TokenId i = 0; i < 40; ++i) {
            QCOMPARE(compute(cache, range(i * 100, 9), held[static_cast<std::size_t>(i)]), 0U);
        }
        std::vector<const SequenceBlocks*> all;
        for (TokenId i = 0; i < 40; ++i) {
            auto& mine = held[static_cast<std::size_t>(i)];
            SequenceBlocks again;
            QCOMPARE(cache.matchPrefix(range(i * 100, 9), "m", again), 8U);
            for (std::size_t b = 0; b < 4; ++b) QCOMPARE(again.tables[0][b], mine.tables[0][b]);
            cache.release(again);
            all.push_back(&mine);
        }
        QCOMPARE(wrong(cache, all), QString());
        for (auto& blocks : held) cache.release(blocks);
    }
}

void TestKvCache::namespacesShareNothing() {
    KvCache cache(config(4, {{64, 0}}));
    live(cache, range(0, 12), "model a");
    QCOMPARE(cache.peekPrefix(range(0, 12), "model b"), 0U);
    QCOMPARE(live(cache, range(0, 12), "model b"), 0U);
    QCOMPARE(cache.counts(0).cached, 6U);
    QCOMPARE(live(cache, range(0, 12), "model a"), 8U);
}

void TestKvCache::growIsAllOrNothing() {
    KvCache cache(config(4, {{8, 0}, {3, 4}}));
    SequenceBlocks blocks;
    QVERIFY(!cache.grow(blocks, 16));  // the second group has 3 blocks
    QCOMPARE(cache.counts().referenced, 0U);
    QVERIFY(cache.grow(blocks, 12));
    QVERIFY(cache.grow(blocks, 12));
    QVERIFY(cache.grow(blocks, 3));
    QCOMPARE(blocks.held(0), 3U);
    QCOMPARE(cache.growth(blocks, 0, 13), 1U);
    QCOMPARE(wrong(cache, {&blocks}), QString());
    cache.release(blocks);
}

void TestKvCache::growEvictsTheLongestUnusedLeafFirst() {
    KvCache cache(config(4, {{4, 0}}));
    live(cache, range(0, 16));  // four cached blocks, a chain
    QVERIFY((cache.counts(0) == BlockCounts{4, 0, 4, 0}));
    SequenceBlocks other;
    cache.matchPrefix(range(500, 4), "m", other);
    QVERIFY(cache.grow(other, 4));
    QCOMPARE(cache.peekPrefix(range(0, 16), "m"), 12U);  // lost its end, not its beginning
    QCOMPARE(cache.peekPrefix(range(0, 17), "m"), 12U);
    QVERIFY(cache.grow(other, 12));
    QCOMPARE(cache.peekPrefix(range(0, 17), "m"), 4U);
    QVERIFY(!cache.grow(other, 20));
    QCOMPARE(wrong(cache, {&other}), QString());
    cache.release(other);
}

void TestKvCache::equalBlocksAreKeptOnce() {
    // sglang 35270: two sequences compute the same prefix at once; nothing is counted twice.
    KvCache cache(config(4, {{64, 0}}));
    const auto tokens = range(0, 10);
    SequenceBlocks a;
    SequenceBlocks b;
    cache.matchPrefix(tokens, "m", a);
    cache.matchPrefix(tokens, "m", b);
    QVERIFY(cache.grow(a, 10) && cache.grow(b, 10));
    QCOMPARE(cache.counts(0).referenced, 6U);
    cache.publish(a, tokens, 10);
    cache.publish(b, tokens, 10);
    QCOMPARE(cache.counts(0).referenced, 4U);  // two shared, two private ends
    QCOMPARE(a.tables[0][1], b.tables[0][1]);
    QVERIFY(a.tables[0][2] != b.tables[0][2]);
    QCOMPARE(wrong(cache, {&a, &b}), QString());
    cache.release(a);
    QVERIFY((cache.counts(0) == BlockCounts{64, 61, 0, 3}));
    cache.release(b);
    QVERIFY((cache.counts(0) == BlockCounts{64, 62, 2, 0}));
}

void TestKvCache::windowGivesBackWhatNobodySees() {
    KvCache cache(config(4, {{64, 6}}));
    SequenceBlocks blocks;
    cache.matchPrefix(range(0, 40), "m", blocks);
    for (std::uint32_t computed = 0; computed < 40; ++computed) {
        QVERIFY(cache.grow(blocks, computed + 1));
        for (std::uint32_t seen = computed < 5 ? 0 : computed - 5; seen <= computed; ++seen) {
            QVERIFY2(blocks.tables[0][seen / 4] != noBlock, "a block that the query sees is gone");
        }
        QVERIFY(blocks.held(0) <= cache.blocksNeeded(0, 40, 1));
        cache.slide(blocks, computed + 1);
    }
    QVERIFY(blocks.held(0) <= 3);
    QCOMPARE(wrong(cache, {&blocks}), QString());
    cache.release(blocks);
    QCOMPARE(cache.counts(0).free, 64U);
}

void TestKvCache::llamacpp14157_windowedHitNeedsTheWindowOnly() {
    // A chat goes on: blocks before the window were evicted long ago, and are not needed.
    KvCache cache(config(4, {{64, 0}, {6, 8}}));
    auto chat = range(0, 60);
    SequenceBlocks turn;
    cache.matchPrefix(chat, "m", turn);
    for (std::uint32_t computed = 0; computed < 60; computed += 4) {
        QVERIFY(cache.grow(turn, computed + 4));
        cache.publish(turn, chat, computed + 4);
        cache.slide(turn, computed + 4);
    }
    cache.release(turn);
    const auto more = range(60, 10);
    chat.insert(chat.end(), more.begin(), more.end());
    SequenceBlocks next;
    QCOMPARE(cache.matchPrefix(chat, "m", next), 60U);
    QCOMPARE(next.held(0), 15U);
    QCOMPARE(next.held(1), 2U);
    QCOMPARE(next.tables[1][12], noBlock);
    QVERIFY(next.tables[1][13] != noBlock);
    QCOMPARE(wrong(cache, {&next}), QString());
    cache.release(next);
}

void TestKvCache::windowedHitIsShorterWhereTheWindowIsIncomplete() {
    KvCache cache(config(4, {{64, 0}, {4, 8}}));
    const auto tokens = range(0, 16);
    live(cache, tokens);  // 4 blocks of each group cached; the windowed pool is full
    QCOMPARE(cache.peekPrefix(range(0, 20), "m"), 16U);
    SequenceBlocks other;
    cache.matchPrefix(range(500, 4), "m", other);
    QVERIFY(cache.grow(other, 4));  // evicts one windowed block: slid out first, so the first one
    QCOMPARE(cache.peekPrefix(range(0, 20), "m"), 16U);
    QCOMPARE(cache.peekPrefix(range(0, 8), "m"), 0U);  // position 4 sees 0 … 3
    cache.release(other);
    QCOMPARE(wrong(cache), QString());
}

void TestKvCache::blocksNeededIsExact() {
    for (const std::uint32_t size : {1U, 4U, 16U}) {
        for (const std::uint32_t window : {0U, 1U, 3U, 4U, 5U, 16U, 33U}) {
            const KvCache cache(config(size, {{64, window}}));
            for (std::uint32_t tokens = 1; tokens <= 80; ++tokens) {
                for (const std::uint32_t chunk : {1U, 2U, 7U, 16U, 100U}) {
                    const std::uint32_t rows = std::min(chunk, tokens);
                    std::uint32_t most = 0;
                    for (std::uint32_t c = 0; c + rows <= tokens; ++c) {
                        const std::uint32_t first = window == 0 || c + 1 < window ? 0 : c + 1 - window;
                        most = std::max(most, (c + rows - 1) / size - first / size + 1);
                    }
                    QCOMPARE(cache.blocksNeeded(0, tokens, chunk), most);
                }
            }
        }
    }
}

void TestKvCache::largestSequenceFits() {
    QCOMPARE(KvCache(config(16, {{64, 0}})).largestSequence(), 1024U);
    QCOMPARE(KvCache(config(16, {{64, 0}, {3, 32}})).largestSequence(), 1024U);
    QCOMPARE(KvCache(config(16, {{64, 0}, {2, 32}})).largestSequence(), 32U);
    QCOMPARE(KvCache(config(16, {{3, 32}})).largestSequence(), 0x7FFFFFFFU);
    QCOMPARE(KvCache(config(16, {{0, 0}})).largestSequence(), 0U);
}

void TestKvCache::withoutPrefixCacheNothingIsShared() {
    KvCacheConfig off = config(4, {{8, 0}});
    off.prefixCache = false;
    KvCache cache(std::move(off));
    QCOMPARE(live(cache, range(0, 16)), 0U);
    QCOMPARE(live(cache, range(0, 16)), 0U);
    QCOMPARE(cache.peekPrefix(range(0, 16), "m"), 0U);
    QVERIFY((cache.counts(0) == BlockCounts{8, 8, 0, 0}));
}

void TestKvCache::releaseIsSafeTwice() {
    KvCache cache(config(4, {{8, 0}, {8, 4}}));
    SequenceBlocks blocks;
    cache.release(blocks);
    compute(cache, range(0, 9), blocks);
    SequenceBlocks moved = std::move(blocks);
    cache.release(blocks);
    QCOMPARE(wrong(cache, {&moved}), QString());
    cache.release(moved);
    cache.release(moved);
    QCOMPARE(wrong(cache), QString());
    QCOMPARE(compute(cache, range(0, 9), moved), 8U);  // the same value serves again
    cache.release(moved);
}

void TestKvCache::clearPrefixesStopsSequencesUnderWay() {
    KvCache cache(config(4, {{16, 0}}));
    live(cache, range(100, 8));
    SequenceBlocks under;
    const auto tokens = range(0, 12);
    cache.matchPrefix(tokens, "m", under);
    QVERIFY(cache.grow(under, 12));
    cache.publish(under, tokens, 4);
    cache.clearPrefixes();
    QVERIFY((cache.counts(0) == BlockCounts{16, 13, 0, 3}));
    cache.publish(under, tokens, 12);
    QCOMPARE(cache.peekPrefix(tokens, "m"), 0U);
    QCOMPARE(cache.peekPrefix(range(100, 9), "m"), 0U);
    QCOMPARE(wrong(cache, {&under}), QString());
    cache.release(under);
    QCOMPARE(cache.counts(0).free, 16U);
    QCOMPARE(live(cache, tokens), 0U);
    QCOMPARE(live(cache, tokens), 8U);
}

void TestKvCache::rewindKeepsFullAttentionMemory() {
    KvCache cache(config(4, {{8, 0}, {8, 4}}));
    SequenceBlocks blocks;
    QVERIFY(cache.grow(blocks, 16));
    cache.slide(blocks, 16);
    const auto before = blocks.tables[0];
    cache.rewind(blocks);
    QVERIFY(blocks.tables[0] == before);
    QCOMPARE(blocks.held(1), 0U);
    QVERIFY(cache.grow(blocks, 8));
    QCOMPARE(blocks.held(1), 2U);
    QCOMPARE(wrong(cache, {&blocks}), QString());
    cache.release(blocks);
}

void TestKvCache::sglang6778_randomLivesLeakNothing() {
    KvCache cache(config(4, {{40, 0}, {30, 7}}));
    std::vector<std::pair<std::vector<TokenId>, SequenceBlocks>> lives;
    std::uint32_t random = 99;
    const auto pick = [&random](std::uint32_t below) {
        random = random * 1664525U + 1013904223U;
        return (random >> 10) % below;
    };
    for (int i = 0; i < 5000; ++i) {
        if (lives.empty() || pick(3) == 0) {
            auto& made =
                lives.emplace_back(range(static_cast<TokenId>(pick(3) * 1000), 1 + pick(30)), SequenceBlocks());
            made.first.back() = static_cast<TokenId>(pick(3));
            if (compute(cache, made.first, made.second) == 0xFFFFFFFFU) cache.release(made.second);
        } else {
            const std::size_t index = pick(static_cast<std::uint32_t>(lives.size()));
            cache.release(lives[index].second);
            lives.erase(lives.begin() + static_cast<std::ptrdiff_t>(index));
        }
        std::vector<const SequenceBlocks*> live;
        for (const auto& one : lives) live.push_back(&one.second);
        QCOMPARE(wrong(cache, live), QString());
    }
    for (auto& one : lives) cache.release(one.second);
    QCOMPARE(cache.counts().referenced, 0U);
    QCOMPARE(wrong(cache), QString());
}

FIRSTTOKEN_TEST_CLASS(TestKvCache);
#include "test_kv_cache.moc"
