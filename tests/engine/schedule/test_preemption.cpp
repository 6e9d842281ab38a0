#include <QtTest>
#include <random>

#include "tests/engine/schedule/fake_backend.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

class TestPreemption : public QObject {
    Q_OBJECT

private slots:
    void vllm8844_forcedPreemptionChangesNoOutput();
    void sglang24252_allArePreemptedInOneStep();
    void vllmAscend16315_oversubscriptionDoesNotThrash_data();
    void vllmAscend16315_oversubscriptionDoesNotThrash();
    void theOldestIsNeverPreempted();
    void theLowestPriorityIsPreemptedFirst();
    void preemptedComesBackFirstAndKeepsItsAge();
    void resumeTakesItsOwnPrefixBack();
};

namespace {
SchedulerConfig config() {
    SchedulerConfig made;
    made.maxConcurrentSequences = 32;
    made.maxBatchTokens = 512;
    made.maxContextTokens = 1024;
    return made;
}
#define VERIFY_STEP(fake) QVERIFY2((fake).step(), (fake).error.c_str())
#define VERIFY_DRAIN(fake) QVERIFY2((fake).drain(), (fake).error.c_str())
std::vector<TokenId> own(RequestId id, std::size_t length) { return promptOf(static_cast<TokenId>(1000 * id), length); }
}  // namespace

void TestPreemption::vllm8844_forcedPreemptionChangesNoOutput() {
    std::mt19937 random(3);
    for (const bool prefixCache : {true, false}) {
        FakeEngine fake(config(), kvConfig(16, {{400, 0}, {200, 24}}, prefixCache));
        for (RequestId id = 1; id <= 10; ++id) QVERIFY(!fake.submit(id, own(id, 20 + 13 * id), 40));
        while (fake.scheduler.hasWork()) {
            VERIFY_STEP(fake);
            if (random() % 4 == 0) fake.scheduler.forcePreempt(1 + random() % 10);
        }
        for (RequestId id = 1; id <= 10; ++id) {
            QVERIFY(fake.outputs[id] == aloneOutput("m", own(id, 20 + 13 * id), 40));
        }
        QVERIFY(fake.scheduler.counts().preemptions > 10);
    }
}

void TestPreemption::sglang24252_allArePreemptedInOneStep() {
    FakeEngine fake(config(), kvConfig(16, {{400, 0}}));
    for (RequestId id = 1; id <= 6; ++id) QVERIFY(!fake.submit(id, own(id, 20), 20));
    for (int i = 0; i < 5; ++i) VERIFY_STEP(fake);
    fake.scheduler.forcePreemptAll();
    QVERIFY((fake.scheduler.counts() == SchedulerCounts{6, 0, 0, 6}));
    QCOMPARE(fake.cache.counts().referenced, 0U);
    fake.scheduler.forcePreemptAll();
    VERIFY_STEP(fake);
    QCOMPARE(fake.plan.preempted.size(), std::size_t(6));
    QVERIFY(!fake.plan.entries.empty());
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.outputs.size(), std::size_t(6));
}

void TestPreemption::vllmAscend16315_oversubscriptionDoesNotThrash_data() {
    QTest::addColumn<bool>("staggered");
    QTest::addColumn<bool>("prefixCache");
    QTest::addColumn<bool>("unevenOutputs");
    for (const bool staggered : {false, true}) {
        for (const bool prefixCache : {false, true}) {
            for (const bool uneven : {false, true}) {
                const std::string name = std::string(staggered ? "staggered" : "at once") +
                                         (prefixCache ? ", prefix cache" : "") + (uneven ? ", uneven" : "");
                QTest::newRow(name.c_str()) << staggered << prefixCache << uneven;
            }
        }
    }
}

void TestPreemption::vllmAscend16315_oversubscriptionDoesNotThrash() {
    QFETCH(bool, staggered);
    QFETCH(bool, prefixCache);
    QFETCH(bool, unevenOutputs);
    constexpr std::size_t prompt = 128;
    constexpr std::int64_t output = 256;
    constexpr std::uint32_t blocksEach = (prompt + output) / 16;
    double seconds[2] = {0, 0};
    for (const int oversubscribed : {0, 1}) {
        const std::uint32_t blocks = oversubscribed == 0 ? 32 * blocksEach + 32 : 32 * blocksEach * 2 / 3;
        FakeEngine fake(config(), kvConfig(16, {{blocks, 0}}, prefixCache));
        // A machine on which a decode row is cheap beside the base and prefill is compute.
        fake.baseNs = 20'000'000;
        fake.prefillRowNs = 200'000;
        fake.decodeRowNs = 200'000;
        const Nanoseconds start = fake.nowNs;
        RequestId next = 1;
        for (int i = 0; fake.outputs.size() < 96 && i < 100000; ++i) {
            const bool arrives = staggered ? i % 8 == 0 : true;
            while (next <= 96 && arrives && fake.scheduler.find(next) == nullptr) {
                const std::int64_t most = unevenOutputs ? 32 + static_cast<std::int64_t>(next * 97 % 7) * 64 : output;
                QVERIFY(!fake.submit(next, own(next, prompt), most));
                ++next;
                if (staggered) break;
            }
            VERIFY_STEP(fake);
        }
        QCOMPARE(fake.outputs.size(), std::size_t(96));
        seconds[oversubscribed] = static_cast<double>(fake.nowNs - start) / 1e9;
        std::uint32_t most = 0;
        std::uint32_t sum = 0;
        for (const auto& [id, count] : fake.preemptions) {
            most = std::max(most, count);
            sum += count;
        }
        qInfo("%s: %.1f s, preemptions: most %u, sum %u", oversubscribed == 0 ? "roomy" : "oversubscribed",
              seconds[oversubscribed], most, sum);
        QVERIFY(most <= 2);
    }
    QVERIFY2(seconds[0] / seconds[1] >= 0.6, "throughput collapses");
}

void TestPreemption::theOldestIsNeverPreempted() {
    for (const SchedulePolicy policy : {SchedulePolicy::Fcfs, SchedulePolicy::Priority}) {
        SchedulerConfig made = config();
        made.policy = policy;
        FakeEngine fake(made, kvConfig(4, {{60, 0}}));
        for (RequestId id = 1; id <= 12; ++id) QVERIFY(!fake.submit(id, own(id, 10), 60, static_cast<int>(id)));
        RequestId oldest = 0;
        while (fake.scheduler.hasWork()) {
            VERIFY_STEP(fake);
            QVERIFY(oldest == 0 || std::count(fake.plan.preempted.begin(), fake.plan.preempted.end(), oldest) == 0);
            std::uint64_t age = ~std::uint64_t{0};
            oldest = 0;
            for (RequestId id = 1; id <= 12; ++id) {
                const Sequence* sequence = fake.scheduler.find(id);
                if (sequence == nullptr || sequence->state == RequestState::Queued) continue;
                if (sequence->arrivalOrder < age) oldest = id;
                age = std::min(age, sequence->arrivalOrder);
            }
        }
        QCOMPARE(fake.outputs.size(), std::size_t(12));
        QVERIFY(fake.scheduler.counts().preemptions > 0);
    }
}

void TestPreemption::theLowestPriorityIsPreemptedFirst() {
    SchedulerConfig made = config();
    made.policy = SchedulePolicy::Priority;
    FakeEngine fake(made, kvConfig(4, {{30, 0}}));
    QVERIFY(!fake.submit(1, own(1, 10), 60, 5));
    QVERIFY(!fake.submit(2, own(2, 10), 60, 1));
    QVERIFY(!fake.submit(3, own(3, 10), 60, 9));
    while (fake.scheduler.counts().preemptions == 0) VERIFY_STEP(fake);
    QCOMPARE(fake.scheduler.find(2)->preemptions, 1U);
    QCOMPARE(fake.scheduler.find(3)->preemptions, 0U);
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.outputs.size(), std::size_t(3));
}

void TestPreemption::preemptedComesBackFirstAndKeepsItsAge() {
    SchedulerConfig made = config();
    made.maxConcurrentSequences = 2;
    FakeEngine fake(made, kvConfig(4, {{200, 0}}));
    for (RequestId id = 1; id <= 4; ++id) QVERIFY(!fake.submit(id, own(id, 10), 20));
    for (int i = 0; i < 3; ++i) VERIFY_STEP(fake);
    const std::uint64_t age = fake.scheduler.find(2)->arrivalOrder;
    const auto tokens = fake.scheduler.find(2)->tokens;
    QVERIFY(fake.scheduler.forcePreempt(2));
    QVERIFY(!fake.scheduler.forcePreempt(2));
    QCOMPARE(fake.scheduler.queuePlace(2), 1U);
    QCOMPARE(fake.scheduler.find(2)->arrivalOrder, age);
    QVERIFY(fake.scheduler.find(2)->tokens == tokens);
    VERIFY_STEP(fake);
    QVERIFY((fake.plan.preempted == std::vector<RequestId>{2}));
    QVERIFY((fake.plan.admitted == std::vector<RequestId>{2}));
    VERIFY_DRAIN(fake);
}

void TestPreemption::resumeTakesItsOwnPrefixBack() {
    FakeEngine fake(config(), kvConfig(4, {{200, 0}, {60, 12}}));
    QVERIFY(!fake.submit(1, own(1, 30), 40));
    for (int i = 0; i < 20; ++i) VERIFY_STEP(fake);
    const std::uint32_t computed = fake.scheduler.find(1)->computedTokens;
    fake.scheduler.forcePreempt(1);
    VERIFY_STEP(fake);
    QCOMPARE(fake.plan.entries.size(), std::size_t(1));
    QCOMPARE(fake.plan.entries[0].firstPosition, computed / 4 * 4);
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.cached[1], 0U);  // of its prompt when it first came, nothing was cached
}

FIRSTTOKEN_TEST_CLASS(TestPreemption);
#include "test_preemption.moc"
