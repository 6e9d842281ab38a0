#include <QtTest>

#include "engine/profile/memory_fit.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestMemoryFit : public QObject {
    Q_OBJECT

private slots:
    void wholeBlocks() {
        MemoryNeed need;
        need.weightBytes = 1'000;
        need.workBytes = 100;
        need.groups = {{10, 0}};
        need.contextTokens = 33;  // three blocks of 16: 480 bytes
        need.sequences = 4;
        const auto fit = fits(need, 1'100 + 2 * 480 + 479);
        QVERIFY(fit.fits);
        QCOMPARE(fit.fixedBytes, std::uint64_t{1'100});
        QCOMPARE(fit.bytesPerSequence, std::uint64_t{480});
        QCOMPARE(fit.neededBytes, std::uint64_t{1'100 + 4 * 480});
        QCOMPARE(fit.kvBudgetBytes, std::uint64_t{2 * 480 + 479});
        QCOMPARE(fit.sequencesAtFullContext, std::int64_t{2});
        QCOMPARE(fit.longestContextTokens, std::int64_t{33});
    }

    void exactlyOneAndOneByteLess() {
        MemoryNeed need;
        need.weightBytes = 500;
        need.groups = {{2, 0}, {3, 0}};
        need.contextTokens = 64;
        QCOMPARE(fits(need, 500 + 320).sequencesAtFullContext, std::int64_t{1});
        const auto less = fits(need, 500 + 319);
        QVERIFY(!less.fits);
        QCOMPARE(less.sequencesAtFullContext, std::int64_t{0});
        QCOMPARE(less.longestContextTokens, std::int64_t{48});
    }

    void weightsAlone() {
        MemoryNeed need;
        need.weightBytes = 500;
        need.groups = {{1, 0}};
        need.contextTokens = 16;
        const auto fit = fits(need, 499);
        QVERIFY(!fit.fits);
        QCOMPARE(fit.kvBudgetBytes, std::uint64_t{0});
        need.groups.clear();  // kv_cache: false
        QVERIFY(fits(need, 500).fits);
        QCOMPARE(fits(need, 500).sequencesAtFullContext, std::int64_t{1});
    }

    void windowsKeepLess() {
        MemoryNeed need;
        need.groups = {{1, 0}, {1, 100}};
        need.contextTokens = 1'600;
        // Full: 100 blocks. Window of 100: 7 blocks, one more as it starts anywhere.
        QCOMPARE(fits(need, 1'000'000).bytesPerSequence, std::uint64_t{(100 + 8) * 16});
        need.contextTokens = 40;  // shorter than the window
        QCOMPARE(fits(need, 1'000'000).bytesPerSequence, std::uint64_t{(3 + 3) * 16});
    }

    void sumsDoNotWrap() {
        MemoryNeed need;
        need.weightBytes = UINT64_MAX - 5;
        need.workBytes = 100;
        need.groups = {{UINT64_MAX / 2, 0}};
        need.contextTokens = INT64_MAX;
        need.sequences = INT64_MAX;
        const auto fit = fits(need, UINT64_MAX - 1);
        QVERIFY(!fit.fits);
        QCOMPARE(fit.fixedBytes, UINT64_MAX);
        QCOMPARE(fit.neededBytes, UINT64_MAX);
        need.weightBytes = 0;
        QVERIFY(!fits(need, UINT64_MAX - 1).fits);
        need.contextTokens = -5;
        need.sequences = -1;
        need.blockTokens = 0;
        QCOMPARE(fits(need, 1'000).sequencesAtFullContext, std::int64_t{0});
    }
};

FIRSTTOKEN_TEST_CLASS(TestMemoryFit);
#include "test_memory_fit.moc"
