#include <QtTest>

#include "engine/cache/block_pool.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestBlockPool : public QObject {
    Q_OBJECT

private slots:
    void takesEveryBlockOnce();
    void countsReferences();
    void cachedBlocksAreOldestFirst();
    void unpublishFreesCachedBlocks();
    void checkSeesNothingWrong();
};

void TestBlockPool::takesEveryBlockOnce() {
    BlockPool pool(3);
    std::vector<bool> seen(3, false);
    for (int i = 0; i < 3; ++i) {
        const BlockId block = pool.takeFree();
        QVERIFY(block < 3);
        QVERIFY(!seen[block]);
        seen[block] = true;
    }
    QCOMPARE(pool.takeFree(), noBlock);
    QVERIFY((pool.counts() == BlockCounts{3, 0, 0, 3}));
}

void TestBlockPool::countsReferences() {
    BlockPool pool(2);
    const BlockId block = pool.takeFree();
    pool.reference(block);
    QCOMPARE(pool.references(block), 2U);
    pool.unreference(block);
    QVERIFY((pool.counts() == BlockCounts{2, 1, 0, 1}));
    pool.unreference(block);
    QVERIFY((pool.counts() == BlockCounts{2, 2, 0, 0}));
    QCOMPARE(QString::fromStdString(pool.check()), QString());
}

void TestBlockPool::cachedBlocksAreOldestFirst() {
    BlockPool pool(3);
    std::vector<BlockId> blocks;
    for (NodeId node = 0; node < 3; ++node) {
        blocks.push_back(pool.takeFree());
        pool.publish(blocks.back(), node);
    }
    pool.unreference(blocks[1]);
    pool.unreference(blocks[0]);
    pool.unreference(blocks[2]);
    QCOMPARE(pool.oldestCached(), blocks[1]);
    pool.reference(blocks[1]);  // used again: now the youngest
    pool.unreference(blocks[1]);
    QCOMPARE(pool.oldestCached(), blocks[0]);
    pool.reference(blocks[2]);  // from the middle of the list
    QVERIFY((pool.counts() == BlockCounts{3, 0, 2, 1}));
    QCOMPARE(QString::fromStdString(pool.check()), QString());
    pool.unpublish(blocks[0]);
    QCOMPARE(pool.oldestCached(), blocks[1]);
}

void TestBlockPool::unpublishFreesCachedBlocks() {
    BlockPool pool(2);
    const BlockId cached = pool.takeFree();
    const BlockId held = pool.takeFree();
    pool.publish(cached, 0);
    pool.publish(held, 1);
    pool.unreference(cached);
    pool.unpublish(cached);
    pool.unpublish(cached);
    pool.unpublish(held);
    QVERIFY((pool.counts() == BlockCounts{2, 1, 0, 1}));
    pool.unreference(held);
    QVERIFY((pool.counts() == BlockCounts{2, 2, 0, 0}));
    QCOMPARE(pool.node(held), noNode);
}

void TestBlockPool::checkSeesNothingWrong() {
    BlockPool pool(64);
    std::vector<BlockId> held;
    std::uint32_t random = 12345;
    for (int i = 0; i < 5000; ++i) {
        random = random * 1664525U + 1013904223U;
        if ((random >> 16) % 2 == 0 && pool.counts().free > 0) {
            held.push_back(pool.takeFree());
            if ((random >> 20) % 2 == 0) pool.publish(held.back(), random >> 8);
        } else if (!held.empty()) {
            const std::size_t index = (random >> 12) % held.size();
            pool.unreference(held[index]);
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
        } else if (pool.oldestCached() != noBlock) {
            pool.unpublish(pool.oldestCached());
        }
        QCOMPARE(QString::fromStdString(pool.check()), QString());
    }
}

FIRSTTOKEN_TEST_CLASS(TestBlockPool);
#include "test_block_pool.moc"
