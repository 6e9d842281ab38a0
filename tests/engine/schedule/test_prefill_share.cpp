#include <QtTest>

#include "tests/engine/schedule/fake_backend.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

class TestPrefillShare : public QObject {
    Q_OBJECT

private slots:
    void llamacpp29175_longPromptAtMostTriplesTheGaps_data();
    void llamacpp29175_longPromptAtMostTriplesTheGaps();
    void prefillTimeIsKept();
    void withoutDecodesTheBatchIsFull();
    void aSlowMachineTakesShorterSteps();
    void steadyLoadStillMeasuresDecodes();
    void decodesAndPrefillShareANarrowStep();
};

namespace {
SchedulerConfig config() {
    SchedulerConfig made;
    made.maxConcurrentSequences = 16;
    made.maxBatchTokens = 2048;
    made.maxContextTokens = 40000;
    return made;
}
#define VERIFY_STEP(fake) QVERIFY2((fake).step(), (fake).error.c_str())
}  // namespace

void TestPrefillShare::llamacpp29175_longPromptAtMostTriplesTheGaps_data() {
    QTest::addColumn<int>("decoders");
    QTest::addColumn<int>("baseUs");
    QTest::addColumn<int>("prefillRowUs");
    QTest::addColumn<int>("decodeRowUs");
    QTest::newRow("slow processor") << 1 << 50000 << 10000 << 500;
    QTest::newRow("fast processor") << 8 << 20000 << 1000 << 200;
    QTest::newRow("GPU") << 16 << 5000 << 30 << 50;
}

void TestPrefillShare::llamacpp29175_longPromptAtMostTriplesTheGaps() {
    QFETCH(int, decoders);
    QFETCH(int, baseUs);
    QFETCH(int, prefillRowUs);
    QFETCH(int, decodeRowUs);
    SchedulerConfig made = config();
    made.maxConcurrentSequences = 32;
    FakeEngine fake(made, kvConfig(16, {{8000, 0}}));
    fake.baseNs = baseUs * 1000;
    fake.prefillRowNs = prefillRowUs * 1000;
    fake.decodeRowNs = decodeRowUs * 1000;
    for (int i = 0; i < decoders; ++i) {
        QVERIFY(!fake.submit(static_cast<RequestId>(i + 1), promptOf(i * 1000, 32), 3000));
    }
    for (int i = 0; i < 40; ++i) VERIFY_STEP(fake);
    const double alone = static_cast<double>(fake.baseNs + fake.decodeRowNs * decoders);
    QVERIFY(!fake.submit(100, promptOf(90000, 2000), 1));
    double longest = 0;
    double prefillSteps = 0;
    while (!fake.outputs.contains(100)) {
        const Nanoseconds before = fake.nowNs;
        VERIFY_STEP(fake);
        QCOMPARE(fake.plan.decodeRows, static_cast<std::uint32_t>(decoders));
        longest = std::max(longest, static_cast<double>(fake.nowNs - before));
        ++prefillSteps;
    }
    QVERIFY2(longest <= 3.05 * alone, "a gap is more than tripled");
    // And the share is used: within a factor of 1.5 of the fewest possible steps, or all at once.
    const double rowsAStep = 2 * alone / static_cast<double>(fake.prefillRowNs);
    QVERIFY(prefillSteps <= 1.5 * 2000 / rowsAStep + 3);
}

void TestPrefillShare::prefillTimeIsKept() {
    SchedulerConfig made = config();
    made.prefillTimeMs = 40;
    FakeEngine fake(made, kvConfig(16, {{8000, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 32), 3000));
    for (int i = 0; i < 20; ++i) VERIFY_STEP(fake);
    QVERIFY(!fake.submit(2, promptOf(1000, 2000), 1));
    for (int i = 0; i < 10; ++i) VERIFY_STEP(fake);
    QCOMPARE(fake.plan.decodeRows, 1U);
    QVERIFY(fake.plan.prefillRows >= 36 && fake.plan.prefillRows <= 42);
    made.prefillTimeMs = 10;  // while running
    fake.scheduler.reconfigure(made);
    VERIFY_STEP(fake);
    QVERIFY(fake.plan.prefillRows >= 8 && fake.plan.prefillRows <= 11);
}

void TestPrefillShare::withoutDecodesTheBatchIsFull() {
    SchedulerConfig made = config();
    made.maxBatchTokens = 512;
    FakeEngine fake(made, kvConfig(16, {{8000, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 2000), 1));
    for (int i = 0; i < 3; ++i) {
        VERIFY_STEP(fake);
        QCOMPARE(fake.plan.prefillRows, 512U);
    }
}

void TestPrefillShare::aSlowMachineTakesShorterSteps() {
    FakeEngine fake(config(), kvConfig(16, {{8000, 0}}));
    fake.prefillRowNs = 5'000'000;  // 200 rows a second
    QVERIFY(!fake.submit(1, promptOf(0, 20000), 1));
    VERIFY_STEP(fake);
    for (int i = 0; i < 5; ++i) VERIFY_STEP(fake);
    QVERIFY(fake.plan.prefillRows >= 190 && fake.plan.prefillRows <= 210);
}

void TestPrefillShare::steadyLoadStillMeasuresDecodes() {
    // Prompts without end from the first step on: there would never be a step with decodes only.
    FakeEngine fake(config(), kvConfig(16, {{8000, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 16), 20000));
    QVERIFY(!fake.submit(2, promptOf(1000, 20000), 1));
    QVERIFY(!fake.submit(3, promptOf(2000, 20000), 1));
    int decodeOnly = 0;
    for (int i = 0; i < 600; ++i) {
        VERIFY_STEP(fake);
        if (i > 0 && fake.plan.prefillRows == 0) ++decodeOnly;
    }
    QVERIFY(fake.scheduler.timeModel().knowsDecode());
    QVERIFY(decodeOnly >= 2 && decodeOnly <= 6);
    // 11 ms of decodes leave 22 ms to prefill.
    QVERIFY(fake.plan.prefillRows >= 20 && fake.plan.prefillRows <= 23);
}

void TestPrefillShare::decodesAndPrefillShareANarrowStep() {
    SchedulerConfig made = config();
    made.maxBatchTokens = 4;
    FakeEngine fake(made, kvConfig(16, {{8000, 0}}));
    for (RequestId id = 1; id <= 8; ++id) {
        QVERIFY(!fake.submit(id, promptOf(static_cast<TokenId>(1000 * id), 4), 2000));
    }
    for (int i = 0; i < 100; ++i) VERIFY_STEP(fake);
    std::vector<std::uint32_t> before;
    for (RequestId id = 1; id <= 8; ++id) before.push_back(fake.scheduler.find(id)->outputTokens());
    for (int i = 0; i < 40; ++i) VERIFY_STEP(fake);
    for (RequestId id = 1; id <= 8; ++id) {  // they take turns
        const std::uint32_t made_ = fake.scheduler.find(id)->outputTokens() - before[id - 1];
        QVERIFY(made_ >= 19 && made_ <= 21);
    }
}

FIRSTTOKEN_TEST_CLASS(TestPrefillShare);
#include "test_prefill_share.moc"
