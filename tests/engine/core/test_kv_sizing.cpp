#include <QtTest>

#include "engine/core/kv_sizing.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;

class TestKvSizing : public QObject {
    Q_OBJECT

    static engine::KvSizingInput input() {
        engine::KvSizingInput input;
        input.groups = {{0, {0, 1}}, {128, {2}}};
        input.blockBytes = {1000, 500};
        input.contextTokens = 4096;
        input.sequences = 4;
        input.chunkTokens = 512;
        input.budgetBytes = 1ULL << 40;
        return input;
    }

private slots:
    void aFullBudgetHoldsEverySequence() {
        const auto blocks = engine::sizeKvPools(input());
        QVERIFY(blocks.ok());
        QCOMPARE((*blocks)[0], 4U * 256U);
        QCOMPARE((*blocks)[1], 4U * ((2 * 128 + 512) / 16 + 1));
        QCOMPARE(engine::kvPoolBytes(input(), *blocks), std::uint64_t{1024 * 1000 + 4 * 49 * 500});
    }
    void aSmallBudgetIsKept() {
        auto small = input();
        for (const std::uint64_t budget : {1500ULL, 5000ULL, 100'000ULL, 1'000'000ULL}) {
            small.budgetBytes = budget;
            const auto blocks = engine::sizeKvPools(small);
            QVERIFY(blocks.ok());
            QVERIFY((*blocks)[0] >= 1 && (*blocks)[1] >= 1);
            QVERIFY(engine::kvPoolBytes(small, *blocks) <= budget + 1500);
        }
        small.budgetBytes = 4'000'000;
        small.fillBudget = true;
        const auto filled = engine::sizeKvPools(small);
        QVERIFY(engine::kvPoolBytes(small, *filled) > 3'990'000);
        small.budgetBytes = 1499;
        QVERIFY(engine::sizeKvPools(small).error().code == engine::ErrorCode::DoesNotFit);
    }
};

FIRSTTOKEN_TEST_CLASS(TestKvSizing);
#include "test_kv_sizing.moc"
