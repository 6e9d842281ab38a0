#include <QtTest>
#include <random>

#include "tests/engine/schedule/fake_backend.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

class TestScheduler : public QObject {
    Q_OBJECT

private slots:
    void refusesWithNumbers();
    void vllm39734_requestLargerThanPoolIsRefused();
    void windowedPoolNeedsItsWindowOnly();
    void ollama17427_theWholeContextIsUsable();
    void llamacpp3969_endlessGenerationEndsAtTheContext();
    void openEndedRequestEndsWhereKvEnds();
    void ik982_fullPoolsGoOn();
    void vllm18485_cancelWhileQueued();
    void llamacpp11414_floodOfCancelsChangesNothing();
    void llamacpp24496_cancelStopsWithinOneStep();
    void ik1020_cancelInPrefillStopsWithinOneChunk();
    void sglang6778_thousandCancelsLeakNothing();
    void queueTimeoutEndsOnlyThoseThatNeverRan();
    void staticBatchesRunToTheirEnd();
    void withoutKvCacheEveryStepRecomputes();
    void withoutKvCacheLongSequencesRecomputeInChunks();
    void withoutChunkedPrefillPromptsRunWhole();
    void settingsChangeWhileRunning();
    void rowsOfAStepStayInTheBudget();
    void commitSkipsWhatIsGone();
    void countsAndPlaces();
};

namespace {
SchedulerConfig config() {
    SchedulerConfig made;
    made.maxConcurrentSequences = 8;
    made.maxBatchTokens = 64;
    made.maxContextTokens = 512;
    return made;
}
#define VERIFY_STEP(fake) QVERIFY2((fake).step(), (fake).error.c_str())
#define VERIFY_DRAIN(fake) QVERIFY2((fake).drain(), (fake).error.c_str())
}  // namespace

void TestScheduler::refusesWithNumbers() {
    SchedulerConfig small = config();
    small.maxContextTokens = 32;
    small.maxQueue = 2;
    FakeEngine fake(small, kvConfig(4, {{64, 0}}));
    QVERIFY((fake.submit(1, {}, 5) == Rejection{RejectReason::EmptyPrompt}));
    // ollama 4967: never cut in silence.
    QVERIFY((fake.submit(1, promptOf(0, 32), 5) == Rejection{RejectReason::PromptOverContext, 32, 31}));
    QVERIFY(!fake.submit(1, promptOf(0, 31), 500));
    QCOMPARE(fake.scheduler.find(1)->maxTokens, std::int64_t(1));
    QVERIFY((fake.submit(1, promptOf(0, 3), 5) == Rejection{RejectReason::DuplicateId, 1}));
    QVERIFY(!fake.submit(2, promptOf(0, 3), 5));
    const auto full = fake.submit(3, promptOf(0, 3), 5);
    QVERIFY((full == Rejection{RejectReason::QueueFull, 3, 2}));
    QCOMPARE(toError(*full).code, ErrorCode::Rejected);
    QVERIFY(toError(*full).message.find('2') != std::string::npos);
    QCOMPARE(toError({RejectReason::PromptOverContext, 32, 31}).code, ErrorCode::DoesNotFit);
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.outputs.size(), std::size_t(2));
}

void TestScheduler::vllm39734_requestLargerThanPoolIsRefused() {
    SchedulerConfig big = config();
    big.maxContextTokens = 100000;
    FakeEngine fake(big, kvConfig(16, {{64, 0}}));
    // The last output token needs no KV: 1024 positions are 1025 tokens.
    const auto refused = fake.submit(1, promptOf(0, 1000), 26);
    QVERIFY((refused == Rejection{RejectReason::NeverFitsKv, 65, 64, 0, 1026}));
    const std::string message = toError(*refused).message;
    QVERIFY(message.find("65") != std::string::npos && message.find("64") != std::string::npos);
    QVERIFY(!fake.submit(2, promptOf(0, 1000), 25));
    QVERIFY(!fake.submit(3, promptOf(0, 10), 3));
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.outputs[2].size(), std::size_t(25));
    QCOMPARE(fake.outputs[3].size(), std::size_t(3));
}

void TestScheduler::windowedPoolNeedsItsWindowOnly() {
    // The windowed pool is far smaller than the sequence; chunks adapt to it.
    FakeEngine fake(config(), kvConfig(4, {{128, 0}, {4, 8}}));
    QVERIFY(!fake.submit(1, promptOf(0, 300), 50));
    VERIFY_DRAIN(fake);
    QVERIFY(fake.outputs[1] == aloneOutput("m", promptOf(0, 300), 50));
    FakeEngine tiny(config(), kvConfig(4, {{128, 0}, {2, 8}}));
    QVERIFY((tiny.submit(1, promptOf(0, 300), 50) == Rejection{RejectReason::NeverFitsKv, 3, 2, 1, 350}));
    // Whole prompts need more of it.
    SchedulerConfig whole = config();
    whole.chunkedPrefill = false;
    FakeEngine unchunked(whole, kvConfig(4, {{128, 0}, {4, 8}}));
    QVERIFY((unchunked.submit(1, promptOf(0, 20), 5) == Rejection{RejectReason::NeverFitsKv, 5, 4, 1, 25}));
}

void TestScheduler::ollama17427_theWholeContextIsUsable() {
    for (const std::size_t length : {std::size_t(511), std::size_t(257)}) {
        FakeEngine fake(config(), kvConfig(16, {{32, 0}}));
        QVERIFY(!fake.submit(1, promptOf(0, length), 1));
        VERIFY_DRAIN(fake);
        QVERIFY(fake.outputs[1] == aloneOutput("m", promptOf(0, length), 1));
    }
}

void TestScheduler::llamacpp3969_endlessGenerationEndsAtTheContext() {
    FakeEngine fake(config(), kvConfig(16, {{64, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 10), 0));
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.outputs[1].size(), std::size_t(502));
}

void TestScheduler::openEndedRequestEndsWhereKvEnds() {
    FakeEngine fake(config(), kvConfig(16, {{4, 0}}));
    QCOMPARE(fake.scheduler.largestSequence(), std::int64_t(65));
    QVERIFY(!fake.submit(1, promptOf(0, 10), 0));
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.outputs[1].size(), std::size_t(55));
}

void TestScheduler::ik982_fullPoolsGoOn() {
    for (const RequestId count : {1U, 8U}) {
        FakeEngine fake(config(), kvConfig(4, {{16, 0}}));
        for (RequestId id = 1; id <= count; ++id) {
            QVERIFY(!fake.submit(id, promptOf(static_cast<TokenId>(100 * id), 5), 60));
        }
        VERIFY_DRAIN(fake);
        QCOMPARE(fake.outputs.size(), static_cast<std::size_t>(count));
        for (const auto& [id, output] : fake.outputs) {
            QVERIFY(output == aloneOutput("m", promptOf(static_cast<TokenId>(100 * id), 5), 60));
        }
    }
}

void TestScheduler::vllm18485_cancelWhileQueued() {
    FakeEngine fake(config(), kvConfig(4, {{16, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 5), 60));
    const BlockCounts before = fake.cache.counts();
    QVERIFY(fake.scheduler.cancel(1));
    QVERIFY(!fake.scheduler.cancel(1));
    QVERIFY(fake.cache.counts() == before);
    QVERIFY(!fake.scheduler.hasWork());
    QVERIFY(fake.scheduler.plan(0).entries.empty());
}

void TestScheduler::llamacpp11414_floodOfCancelsChangesNothing() {
    FakeEngine fake(config(), kvConfig(4, {{64, 0}}));
    QVERIFY(!fake.submit(7, promptOf(0, 20), 20));
    for (int i = 0; i < 10; ++i) {
        VERIFY_STEP(fake);
        for (RequestId id = 100; id < 200; ++id) QVERIFY(!fake.scheduler.cancel(id));
    }
    VERIFY_DRAIN(fake);
    QVERIFY(fake.outputs[7] == aloneOutput("m", promptOf(0, 20), 20));
}

void TestScheduler::llamacpp24496_cancelStopsWithinOneStep() {
    FakeEngine fake(config(), kvConfig(4, {{64, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 20), 100));
    QVERIFY(!fake.submit(2, promptOf(500, 20), 100));
    for (int i = 0; i < 10; ++i) VERIFY_STEP(fake);
    QVERIFY(fake.scheduler.cancel(1));
    VERIFY_STEP(fake);
    for (const StepEntry& entry : fake.plan.entries) QCOMPARE(entry.id, RequestId(2));
    QVERIFY(fake.scheduler.cancel(2));
    QCOMPARE(fake.cache.counts().referenced, 0U);
}

void TestScheduler::ik1020_cancelInPrefillStopsWithinOneChunk() {
    SchedulerConfig long_ = config();
    long_.maxContextTokens = 40000;
    FakeEngine fake(long_, kvConfig(16, {{4000, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 30000), 10));
    VERIFY_STEP(fake);
    VERIFY_STEP(fake);
    QCOMPARE(fake.scheduler.find(1)->computedTokens, 128U);
    QVERIFY(fake.scheduler.cancel(1));
    QCOMPARE(fake.cache.counts().referenced, 0U);
    QVERIFY(!fake.scheduler.hasWork());
}

void TestScheduler::sglang6778_thousandCancelsLeakNothing() {
    FakeEngine fake(config(), kvConfig(4, {{60, 0}, {30, 10}}));
    std::mt19937 random(5);
    for (RequestId id = 1; id <= 1000; ++id) {
        (void)fake.submit(id, promptOf(static_cast<TokenId>(random() % 3), 1 + random() % 60), 1 + random() % 30);
        VERIFY_STEP(fake);
        fake.scheduler.cancel(1 + random() % id);
    }
    for (RequestId id = 1; id <= 1000; ++id) fake.scheduler.cancel(id);
    const BlockCounts counts = fake.cache.counts();
    QCOMPARE(counts.referenced, 0U);
    QCOMPARE(counts.free + counts.cached, 90U);
    QCOMPARE(QString::fromStdString(fake.scheduler.checkInvariants()), QString());
}

void TestScheduler::queueTimeoutEndsOnlyThoseThatNeverRan() {
    SchedulerConfig timed = config();
    timed.maxConcurrentSequences = 1;
    timed.queueTimeoutMs = 1000;
    FakeEngine fake(timed, kvConfig(4, {{64, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 4), 100));
    VERIFY_STEP(fake);
    QVERIFY(!fake.submit(2, promptOf(0, 4), 100));
    fake.scheduler.forcePreempt(1);
    fake.nowNs += 999'000'000;
    VERIFY_STEP(fake);
    QVERIFY(fake.plan.timedOut.empty());
    fake.scheduler.forcePreempt(1);
    fake.nowNs += 2'000'000;
    VERIFY_STEP(fake);
    QVERIFY(fake.plan.timedOut == std::vector<RequestId>{2});
    QVERIFY(fake.scheduler.find(2) == nullptr);
    VERIFY_DRAIN(fake);
    QVERIFY(fake.outputs.contains(1));
}

void TestScheduler::staticBatchesRunToTheirEnd() {
    SchedulerConfig off = config();
    off.continuousBatching = false;
    off.maxConcurrentSequences = 3;
    FakeEngine fake(off, kvConfig(4, {{256, 0}}));
    for (RequestId id = 1; id <= 5; ++id) {
        QVERIFY(!fake.submit(id, promptOf(static_cast<TokenId>(id), 30), id == 1 ? 2 : 20));
    }
    VERIFY_STEP(fake);
    QVERIFY((fake.plan.admitted == std::vector<RequestId>{1, 2, 3}));
    while (fake.order.size() < 3) {
        QCOMPARE(fake.scheduler.counts().queued, 2U);  // also once the first one has ended
        VERIFY_STEP(fake);
    }
    VERIFY_STEP(fake);
    QVERIFY((fake.plan.admitted == std::vector<RequestId>{4, 5}));
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.order.size(), std::size_t(5));
}

void TestScheduler::withoutKvCacheEveryStepRecomputes() {
    SchedulerConfig off = config();
    off.kvCache = false;
    FakeEngine fake(off, kvConfig(4, {{64, 0}, {64, 8}}));
    QVERIFY(!fake.submit(1, promptOf(0, 10), 5));
    for (std::uint32_t i = 0; i < 5; ++i) {
        VERIFY_STEP(fake);
        QCOMPARE(fake.plan.entries.size(), std::size_t(1));
        QCOMPARE(fake.plan.entries[0].firstPosition, 0U);
        QCOMPARE(fake.plan.entries[0].count, 10 + i);
    }
    QVERIFY(fake.outputs[1] == aloneOutput("m", promptOf(0, 10), 5));
    QVERIFY(!fake.submit(2, promptOf(0, 10), 5));
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.cached[2], 0U);
    QCOMPARE(fake.cache.counts().cached, 0U);
}

void TestScheduler::withoutKvCacheLongSequencesRecomputeInChunks() {
    SchedulerConfig off = config();
    off.kvCache = false;
    off.maxBatchTokens = 16;
    FakeEngine fake(off, kvConfig(4, {{64, 0}, {10, 8}}));
    for (RequestId id = 1; id <= 3; ++id) QVERIFY(!fake.submit(id, promptOf(static_cast<TokenId>(id), 40), 10));
    VERIFY_DRAIN(fake);
    for (RequestId id = 1; id <= 3; ++id) {
        QVERIFY(fake.outputs[id] == aloneOutput("m", promptOf(static_cast<TokenId>(id), 40), 10));
    }
}

void TestScheduler::withoutChunkedPrefillPromptsRunWhole() {
    SchedulerConfig whole = config();
    whole.chunkedPrefill = false;
    FakeEngine fake(whole, kvConfig(4, {{256, 0}}));
    QVERIFY((fake.submit(9, promptOf(0, 65), 5) == Rejection{RejectReason::PromptOverBatch, 65, 64}));
    for (RequestId id = 1; id <= 6; ++id) {
        QVERIFY(!fake.submit(id, promptOf(static_cast<TokenId>(100 * id), id % 2 == 0 ? 64 : 40), 30));
    }
    while (fake.scheduler.hasWork()) {
        VERIFY_STEP(fake);
        for (const StepEntry& entry : fake.plan.entries) {
            if (!entry.decode) QVERIFY(entry.firstPosition == 0 && entry.wantsLogits);
        }
    }
    QCOMPARE(fake.outputs.size(), std::size_t(6));
}

void TestScheduler::settingsChangeWhileRunning() {
    FakeEngine fake(config(), kvConfig(4, {{256, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 200), 5));
    VERIFY_STEP(fake);
    SchedulerConfig changed = config();
    changed.chunkedPrefill = false;  // the prompt was accepted before: it still runs
    changed.maxBatchTokens = 1;      // not changeable
    changed.maxQueue = 1;
    changed.policy = SchedulePolicy::ShortestPrompt;
    fake.scheduler.reconfigure(changed);
    QCOMPARE(fake.scheduler.config().maxBatchTokens, std::int64_t(64));
    QVERIFY(fake.scheduler.config().policy == SchedulePolicy::ShortestPrompt);
    QVERIFY(!fake.submit(2, promptOf(300, 5), 5));
    QVERIFY(fake.submit(3, promptOf(300, 5), 5)->reason == RejectReason::QueueFull);
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.outputs.size(), std::size_t(2));
}

void TestScheduler::rowsOfAStepStayInTheBudget() {
    for (const std::int64_t batch : {1, 2, 3, 7}) {
        SchedulerConfig narrow = config();
        narrow.maxBatchTokens = batch;
        FakeEngine fake(narrow, kvConfig(4, {{256, 0}}));
        for (RequestId id = 1; id <= 12; ++id) {
            QVERIFY(!fake.submit(id, promptOf(static_cast<TokenId>(100 * id), 20), 20));
        }
        while (fake.scheduler.hasWork()) {
            VERIFY_STEP(fake);
            QVERIFY(!fake.plan.entries.empty());
            QVERIFY(static_cast<std::int64_t>(fake.plan.rows()) <= batch);
        }
        QCOMPARE(fake.outputs.size(), std::size_t(12));
    }
}

void TestScheduler::commitSkipsWhatIsGone() {
    FakeEngine fake(config(), kvConfig(4, {{64, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 10), 5));
    QVERIFY(!fake.submit(2, promptOf(100, 10), 5));
    QVERIFY(!fake.submit(3, promptOf(200, 10), 5));
    const StepPlan plan = fake.scheduler.plan(0);
    QCOMPARE(plan.logits(), std::size_t(3));
    fake.scheduler.finish(1);
    fake.scheduler.forcePreempt(2);
    const std::vector<TokenId> sampled = {1, 2, 3};
    fake.scheduler.commit(plan, sampled);
    QCOMPARE(fake.scheduler.find(2)->outputTokens(), 0U);
    QCOMPARE(fake.scheduler.find(3)->tokens.back(), 3);
    fake.scheduler.commit(plan, sampled);  // once more: nothing fits any longer
    QCOMPARE(fake.scheduler.find(3)->outputTokens(), 1U);
    QCOMPARE(QString::fromStdString(fake.scheduler.checkInvariants()), QString());
}

void TestScheduler::countsAndPlaces() {
    SchedulerConfig few = config();
    few.maxConcurrentSequences = 2;
    few.maxBatchTokens = 16;
    FakeEngine fake(few, kvConfig(4, {{64, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 4), 20));
    QVERIFY(!fake.submit(2, promptOf(100, 60), 20));
    QVERIFY(!fake.submit(3, promptOf(200, 4), 20));
    QVERIFY(!fake.submit(4, promptOf(300, 4), 20));
    QCOMPARE(fake.scheduler.queuePlace(1), 1U);
    QCOMPARE(fake.scheduler.queuePlace(4), 4U);
    VERIFY_STEP(fake);
    QVERIFY((fake.scheduler.counts() == SchedulerCounts{2, 1, 1, 0}));
    QCOMPARE(fake.scheduler.queuePlace(1), 0U);
    QCOMPARE(fake.scheduler.queuePlace(99), 0U);
    QVERIFY((fake.scheduler.queueOrder() == std::vector<RequestId>{3, 4}));
    VERIFY_DRAIN(fake);
}

FIRSTTOKEN_TEST_CLASS(TestScheduler);
#include "test_scheduler.moc"
