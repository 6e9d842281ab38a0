#include <QtTest>

#include "tests/engine/schedule/fake_backend.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

class TestPolicies : public QObject {
    Q_OBJECT

private slots:
    void fcfsKeepsTheOrder();
    void priorityThenAge();
    void shortestPromptFirst();
    void longestPrefixFirst();
    void nobodyStarves_data();
    void nobodyStarves();
    void vllm45414_waitingWorkAlwaysRuns();
    void aBlockedHeadIsNotOvertaken();
};

namespace {
SchedulerConfig oneByOne(SchedulePolicy policy) {
    SchedulerConfig config;
    config.maxConcurrentSequences = 1;
    config.maxBatchTokens = 64;
    config.maxContextTokens = 256;
    config.policy = policy;
    return config;
}
#define VERIFY_DRAIN(fake) QVERIFY2((fake).drain(), (fake).error.c_str())
}  // namespace

void TestPolicies::fcfsKeepsTheOrder() {
    FakeEngine fake(oneByOne(SchedulePolicy::Fcfs), kvConfig(4, {{64, 0}}));
    for (RequestId id = 1; id <= 5; ++id) QVERIFY(!fake.submit(id, promptOf(0, 40 - id), 3, static_cast<int>(id)));
    VERIFY_DRAIN(fake);
    QVERIFY((fake.order == std::vector<RequestId>{1, 2, 3, 4, 5}));
}

void TestPolicies::priorityThenAge() {
    FakeEngine fake(oneByOne(SchedulePolicy::Priority), kvConfig(4, {{64, 0}}));
    const int priorities[] = {0, 5, 5, 9, -1};
    for (RequestId id = 1; id <= 5; ++id) QVERIFY(!fake.submit(id, promptOf(0, 10), 3, priorities[id - 1]));
    VERIFY_DRAIN(fake);
    QVERIFY((fake.order == std::vector<RequestId>{4, 2, 3, 1, 5}));
}

void TestPolicies::shortestPromptFirst() {
    FakeEngine fake(oneByOne(SchedulePolicy::ShortestPrompt), kvConfig(4, {{64, 0}}));
    const std::size_t lengths[] = {30, 10, 20, 10};
    for (RequestId id = 1; id <= 4; ++id) QVERIFY(!fake.submit(id, promptOf(0, lengths[id - 1]), 3));
    QVERIFY((fake.scheduler.queueOrder() == std::vector<RequestId>{2, 4, 3, 1}));
    VERIFY_DRAIN(fake);
    QVERIFY((fake.order == std::vector<RequestId>{2, 4, 3, 1}));
}

void TestPolicies::longestPrefixFirst() {
    FakeEngine fake(oneByOne(SchedulePolicy::LongestPrefix), kvConfig(4, {{256, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 40), 3));
    VERIFY_DRAIN(fake);
    QVERIFY(!fake.submit(2, promptOf(500, 20), 3));
    QVERIFY(!fake.submit(3, promptOf(0, 20), 3));
    QVERIFY(!fake.submit(4, promptOf(0, 41), 3));
    VERIFY_DRAIN(fake);
    QVERIFY((fake.order == std::vector<RequestId>{1, 4, 3, 2}));
    QCOMPARE(fake.cached[4], 40U);
    QCOMPARE(fake.cached[3], 16U);
}

void TestPolicies::nobodyStarves_data() {
    QTest::addColumn<int>("policy");
    QTest::newRow("priority") << static_cast<int>(SchedulePolicy::Priority);
    QTest::newRow("shortest prompt") << static_cast<int>(SchedulePolicy::ShortestPrompt);
    QTest::newRow("longest prefix") << static_cast<int>(SchedulePolicy::LongestPrefix);
}

void TestPolicies::nobodyStarves() {
    QFETCH(int, policy);
    FakeEngine fake(oneByOne(static_cast<SchedulePolicy>(policy)), kvConfig(4, {{256, 0}}));
    QVERIFY(!fake.submit(10000, promptOf(0, 16), 1));
    VERIFY_DRAIN(fake);
    // Two that every policy puts last, then an endless stream of others that it puts first.
    QVERIFY(!fake.submit(1, promptOf(500, 60), 3, -5));
    QVERIFY(!fake.submit(2, promptOf(600, 60), 3, -5));
    RequestId next = 100;
    while (!fake.outputs.contains(2) && next < 1000) {
        while (fake.scheduler.counts().queued < 6) QVERIFY(!fake.submit(next++, promptOf(0, 16), 3, 5));
        QVERIFY2(fake.step(), fake.error.c_str());
    }
    QVERIFY2(fake.outputs.contains(1) && fake.outputs.contains(2), "the oldest waits for ever");
    QVERIFY(next < 140);
    const auto first = std::find(fake.order.begin(), fake.order.end(), RequestId(1));
    QVERIFY(first - fake.order.begin() >= 8);  // and yet the policy acts
}

void TestPolicies::vllm45414_waitingWorkAlwaysRuns() {
    // Cached blocks fill the pool: they are room.
    for (const SchedulePolicy policy : {SchedulePolicy::Fcfs, SchedulePolicy::LongestPrefix}) {
        FakeEngine fake(oneByOne(policy), kvConfig(4, {{12, 0}, {5, 8}}));
        for (RequestId id = 1; id <= 30; ++id) {
            QVERIFY(!fake.submit(id, promptOf(static_cast<TokenId>(id % 4 * 100), 30), 10));
        }
        while (fake.scheduler.hasWork()) {
            QVERIFY2(fake.step(), fake.error.c_str());
            QVERIFY(!fake.plan.entries.empty());
        }
        QCOMPARE(fake.order.size(), std::size_t(30));
    }
}

void TestPolicies::aBlockedHeadIsNotOvertaken() {
    SchedulerConfig config = oneByOne(SchedulePolicy::Fcfs);
    config.maxConcurrentSequences = 8;
    FakeEngine fake(config, kvConfig(4, {{20, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 30), 20));
    QVERIFY2(fake.step(), fake.error.c_str());
    QVERIFY(!fake.submit(2, promptOf(100, 60), 3));  // must wait for the first
    for (RequestId id = 3; id < 20; ++id) QVERIFY(!fake.submit(id, promptOf(200, 2), 1));
    while (fake.scheduler.find(2)->state == RequestState::Queued) {
        QCOMPARE(fake.scheduler.counts().queued, 18U);
        QVERIFY2(fake.step(), fake.error.c_str());
    }
    VERIFY_DRAIN(fake);
    QVERIFY(fake.preemptions[1] == 0 && fake.preemptions[2] == 0);
}

FIRSTTOKEN_TEST_CLASS(TestPolicies);
#include "test_policies.moc"
