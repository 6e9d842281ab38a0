#include <QtTest>

#include "tests/engine/schedule/fake_backend.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

class TestPrefixReuse : public QObject {
    Q_OBJECT

private slots:
    void vllm5543_sameOutputAfterAnEarlyEnd();
    void vllm22808_manyShareOnePrefix();
    void sharedPrefixIsComputedOnce();
    void llamacpp27148_interleavedChatsDoNotLeak();
    void llamacpp14113_sameLongPromptHits();
    void llamacpp14157_windowedChatGoesOn();
    void tenstorrent415_everyBlockBoundary();
    void saltsSeparateCallers();
    void switchedOffItNeverHits();
};

namespace {
SchedulerConfig config() {
    SchedulerConfig made;
    made.maxConcurrentSequences = 64;
    made.maxBatchTokens = 2048;
    made.maxContextTokens = 8192;
    return made;
}
#define VERIFY_STEP(fake) QVERIFY2((fake).step(), (fake).error.c_str())
#define VERIFY_DRAIN(fake) QVERIFY2((fake).drain(), (fake).error.c_str())
std::vector<TokenId> joined(std::vector<TokenId> a, const std::vector<TokenId>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
}  // namespace

void TestPrefixReuse::vllm5543_sameOutputAfterAnEarlyEnd() {
    FakeEngine fake(config(), kvConfig(16, {{512, 0}, {64, 40}}));
    const auto prompt = promptOf(0, 100);
    QVERIFY(!fake.submit(1, prompt, 30));
    VERIFY_DRAIN(fake);
    QVERIFY(!fake.submit(2, joined(prompt, promptOf(70, 20)), 100));
    for (int i = 0; i < 12; ++i) VERIFY_STEP(fake);
    fake.scheduler.finish(2);  // as at a stop string
    QVERIFY(!fake.submit(3, prompt, 30));
    VERIFY_DRAIN(fake);
    QVERIFY(fake.outputs[3] == fake.outputs[1]);
    QCOMPARE(fake.cached[3], 96U);
}

void TestPrefixReuse::vllm22808_manyShareOnePrefix() {
    FakeEngine fake(config(), kvConfig(16, {{600, 0}}));
    const auto prefix = promptOf(0, 1024);
    for (RequestId id = 1; id <= 64; ++id) {
        QVERIFY(!fake.submit(id, joined(prefix, promptOf(static_cast<TokenId>(100 * id), 20)), 30));
    }
    VERIFY_DRAIN(fake);
    for (RequestId id = 1; id <= 64; ++id) {
        const auto prompt = joined(prefix, promptOf(static_cast<TokenId>(100 * id), 20));
        QVERIFY(fake.outputs[id] == aloneOutput("m", prompt, 30));
    }
}

void TestPrefixReuse::sharedPrefixIsComputedOnce() {
    SchedulerConfig fullSteps = config();
    fullSteps.prefillOnlyStepNs = 0;
    FakeEngine fake(fullSteps, kvConfig(16, {{600, 0}}));
    const auto prefix = promptOf(0, 1024);
    for (RequestId id = 1; id <= 16; ++id) {
        QVERIFY(!fake.submit(id, joined(prefix, promptOf(static_cast<TokenId>(100 * id), 20)), 2));
    }
    std::uint32_t rows = 0;
    while (fake.scheduler.hasWork()) {
        VERIFY_STEP(fake);
        rows += fake.plan.prefillRows;
    }
    QCOMPARE(rows, 1024U + 16 * 20);
    // One that shares nothing is not held up by those that wait.
    for (RequestId id = 101; id <= 104; ++id) QVERIFY(!fake.submit(id, promptOf(5000, 3000), 2));
    QVERIFY(!fake.submit(105, promptOf(9000, 10), 2));
    VERIFY_STEP(fake);
    VERIFY_STEP(fake);
    QVERIFY(fake.scheduler.find(105)->state != RequestState::Queued);
    QVERIFY(fake.scheduler.find(104)->state == RequestState::Queued);
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.cached[104], 2992U);
}

void TestPrefixReuse::llamacpp27148_interleavedChatsDoNotLeak() {
    FakeEngine fake(config(), kvConfig(16, {{900, 0}, {40, 48}}));
    std::vector<TokenId> chats[2] = {promptOf(11, 40), promptOf(22, 40)};
    std::uint32_t hits = 0;
    for (RequestId turn = 0; turn < 200; ++turn) {
        for (RequestId chat = 0; chat < 2; ++chat) {
            const RequestId id = 1 + turn * 2 + chat;
            QVERIFY(!fake.submit(id, chats[chat], 10));
            if (chat == 0 && turn % 2 == 0) continue;  // both at once, or one after the other
            VERIFY_DRAIN(fake);
        }
        for (RequestId chat = 0; chat < 2; ++chat) {
            const RequestId id = 1 + turn * 2 + chat;
            QVERIFY(fake.outputs[id] == aloneOutput("m", chats[chat], 10));
            hits += fake.cached[id] > 0 ? 1 : 0;
            chats[chat] = joined(joined(chats[chat], fake.outputs[id]), promptOf(static_cast<TokenId>(turn), 5));
        }
    }
    QVERIFY(hits >= 390);
}

void TestPrefixReuse::llamacpp14113_sameLongPromptHits() {
    FakeEngine fake(config(), kvConfig(16, {{600, 0}, {200, 512}}));
    const auto prompt = promptOf(0, 2000);
    QVERIFY(!fake.submit(1, prompt, 5));
    VERIFY_DRAIN(fake);
    QVERIFY(!fake.submit(2, prompt, 5));
    std::uint32_t rows = 0;
    while (fake.scheduler.hasWork()) {
        VERIFY_STEP(fake);
        rows += fake.plan.prefillRows;
    }
    QVERIFY(rows <= 16);
}

void TestPrefixReuse::llamacpp14157_windowedChatGoesOn() {
    constexpr std::uint32_t window = 512;
    FakeEngine fake(config(), kvConfig(16, {{600, 0}, {window / 16 + 130, window}}));
    std::vector<TokenId> chat;
    for (RequestId turn = 1; turn <= 3; ++turn) {
        const std::size_t known = chat.size();
        chat = joined(chat, promptOf(static_cast<TokenId>(1000 * turn), 700));
        QVERIFY(!fake.submit(turn, chat, 100));
        std::uint32_t rows = 0;
        while (fake.scheduler.hasWork()) {
            VERIFY_STEP(fake);
            rows += fake.plan.prefillRows;
        }
        QVERIFY(rows <= chat.size() - known + window);
        QVERIFY(turn == 1 || fake.cached[turn] + 16 >= known);
        chat = joined(chat, fake.outputs[turn]);
    }
}

void TestPrefixReuse::tenstorrent415_everyBlockBoundary() {
    const auto base = promptOf(0, 80);
    for (std::size_t shared = 0; shared <= 80; ++shared) {
        FakeEngine fake(config(), kvConfig(16, {{64, 0}, {32, 20}}));
        QVERIFY(!fake.submit(1, base, 4));
        VERIFY_DRAIN(fake);
        std::vector<TokenId> other(base.begin(), base.begin() + static_cast<std::ptrdiff_t>(shared));
        other = joined(other, promptOf(900, 30));
        QVERIFY(!fake.submit(2, other, 20));
        VERIFY_DRAIN(fake);
        QVERIFY(fake.outputs[2] == aloneOutput("m", other, 20));
        QCOMPARE(fake.cached[2], static_cast<std::uint32_t>(shared / 16 * 16));
    }
}

void TestPrefixReuse::saltsSeparateCallers() {
    FakeEngine fake(config(), kvConfig(16, {{64, 0}}));
    QVERIFY(!fake.submit(1, promptOf(0, 64), 4, 0, "salt a"));
    VERIFY_DRAIN(fake);
    QVERIFY(!fake.submit(2, promptOf(0, 64), 4, 0, "salt b"));
    QVERIFY(!fake.submit(3, promptOf(0, 64), 4, 0, "salt a"));
    VERIFY_DRAIN(fake);
    QCOMPARE(fake.cached[2], 0U);
    QCOMPARE(fake.cached[3], 48U);
}

void TestPrefixReuse::switchedOffItNeverHits() {
    FakeEngine fake(config(), kvConfig(16, {{64, 0}}, false));
    for (RequestId id = 1; id <= 3; ++id) {
        QVERIFY(!fake.submit(id, promptOf(0, 64), 4));
        VERIFY_DRAIN(fake);
        QCOMPARE(fake.cached[id], 0U);
    }
    QVERIFY((fake.cache.counts() == BlockCounts{64, 64, 0, 0}));
}

FIRSTTOKEN_TEST_CLASS(TestPrefixReuse);
#include "test_prefix_reuse.moc"
