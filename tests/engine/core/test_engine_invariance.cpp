#include "tests/engine/core/engine_client.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::tests;

/// Design, section 5: greedy output is the same whatever runs beside it, however it was scheduled or cached.
class TestEngineInvariance : public QObject {
    Q_OBJECT

    static void models() {
        QTest::addColumn<QString>("model");
        for (const char* name : {"llama.gguf", "qwen2.gguf", "gemma3.gguf"}) QTest::newRow(name) << QString(name);
    }
    static std::string model() {
        QFETCH(QString, model);
        return model.toStdString();
    }

private slots:
    void amongManyOthers_data() { models(); }
    void amongManyOthers() {
        const auto engine = loadEngine(model(), "scheduler: {max_concurrent_sequences: 32, max_batch_tokens: 64}");
        std::vector<Client::Answer> alone;
        for (unsigned i = 0; i < 32; ++i) {
            Client client;
            alone.push_back(client.run(*engine, greedyRequest(randomPrompt(5 + 9 * i, i), 12)));
            QVERIFY(alone.back().last.reason == engine::FinishReason::Length);
        }
        const auto busy = loadEngine(model(), "scheduler: {max_concurrent_sequences: 32, max_batch_tokens: 64}");
        Client client;
        std::vector<engine::RequestId> ids;
        for (unsigned i = 0; i < 32; ++i) {
            ids.push_back(busy->submit(greedyRequest(randomPrompt(5 + 9 * i, i), 12), client.sink()));
        }
        for (unsigned i = 0; i < 32; ++i) QCOMPARE(client.finished(ids[i]).tokens, alone[i].tokens);
    }

    void afterPrefixHitsOfEveryLength_data() { models(); }
    void afterPrefixHitsOfEveryLength() {
        const auto plain = loadEngine(model(), "cache: {prefix_cache: false}");
        const auto engine = loadEngine(model());
        const auto base = randomPrompt(64, 1);
        Client first;
        first.run(*engine, greedyRequest(base, 4));
        for (std::size_t shared = 32; shared <= 48; ++shared) {
            std::vector<engine::TokenId> prompt(base.begin(), base.begin() + static_cast<std::ptrdiff_t>(shared));
            for (const engine::TokenId token : randomPrompt(30, 900 + static_cast<unsigned>(shared)))
                prompt.push_back(token);
            prompt[shared] = base[shared] == 7 ? 8 : 7;  // where they part
            Client cold, warm;
            const auto expected = cold.run(*plain, greedyRequest(prompt, 10));
            const auto got = warm.run(*engine, greedyRequest(prompt, 10));
            QCOMPARE(expected.last.cachedTokens, 0U);
            QCOMPARE(got.last.cachedTokens, static_cast<unsigned>(shared / 16 * 16));
            QCOMPARE(got.tokens, expected.tokens);
        }
    }

    void underPreemption_data() { models(); }
    void underPreemption() {
        const auto roomy = loadEngine(model(), "scheduler: {max_concurrent_sequences: 12}");
        // Bytes for about three of the twelve sequences.
        const std::uint64_t kv = roomy->snapshot().kvBytes / roomy->snapshot().blocksTotal;
        const std::uint64_t tight = kv * 2 * 3 * 8;
        const auto crowded =
            loadEngine(model(), "scheduler: {max_concurrent_sequences: 12}\ncache: {prefix_cache: false, memory: " +
                                    std::to_string(tight) + "}");
        Client one, many;
        std::vector<engine::RequestId> ids;
        for (unsigned i = 0; i < 12; ++i) {
            ids.push_back(crowded->submit(greedyRequest(randomPrompt(40 + i, i), 50), many.sink()));
        }
        std::uint32_t preemptions = 0;
        for (unsigned i = 0; i < 12; ++i) {
            const auto expected = one.run(*roomy, greedyRequest(randomPrompt(40 + i, i), 50));
            const auto got = many.finished(ids[i]);
            QVERIFY2(got.last.reason == engine::FinishReason::Length, got.last.detail.c_str());
            QCOMPARE(got.tokens, expected.tokens);
            QCOMPARE(got.text, expected.text);
            preemptions += got.last.preemptions;
        }
        QVERIFY(preemptions > 0);
        QCOMPARE(crowded->snapshot().blocksReferenced, 0U);
    }

    /// Every switch of the article off, each alone, changes speed and never the answer.
    void withEverySwitchOff_data() {
        QTest::addColumn<QString>("yaml");
        for (const char* yaml :
             {"cache: {kv_cache: false}", "scheduler: {continuous_batching: false}", "cache: {prefix_cache: false}",
              "response: {streaming: false}", "scheduler: {chunked_prefill: false}", "device: {threads: 1}",
              "cache: {block_tokens: 1}", "cache: {block_tokens: 64}", "scheduler: {max_batch_tokens: 16}"}) {
            QTest::newRow(yaml) << QString(yaml);
        }
    }
    void withEverySwitchOff() {
        QFETCH(QString, yaml);
        const auto usual = loadEngine("gemma3.gguf");
        const auto other = loadEngine("gemma3.gguf", yaml.toStdString());
        for (unsigned i = 0; i < 4; ++i) {
            Client a, b;
            const auto expected = a.run(*usual, greedyRequest(randomPrompt(30 + 20 * i, i), 9));
            const auto got = b.run(*other, greedyRequest(randomPrompt(30 + 20 * i, i), 9));
            QCOMPARE(got.tokens, expected.tokens);
            QCOMPARE(got.text, expected.text);
        }
    }

    void seedsDecideWhateverRunsBeside() {
        const auto engine = loadEngine("llama.gguf");
        auto request = greedyRequest(randomPrompt(20, 5), 24);
        request.sampling.temperature = 1.0;
        request.sampling.seed = 42;
        Client alone;
        const auto expected = alone.run(*engine, request);
        Client many;
        std::vector<engine::RequestId> same, different;
        for (unsigned i = 0; i < 15; ++i) {
            auto other = request;
            other.sampling.seed = 1000 + i;
            different.push_back(engine->submit(other, many.sink()));
            same.push_back(engine->submit(request, many.sink()));
        }
        int unlike = 0;
        for (unsigned i = 0; i < 15; ++i) {
            QCOMPARE(many.finished(same[i]).tokens, expected.tokens);
            unlike += many.finished(different[i]).tokens != expected.tokens ? 1 : 0;
        }
        QCOMPARE(unlike, 15);
    }
};

FIRSTTOKEN_TEST_CLASS(TestEngineInvariance);
#include "test_engine_invariance.moc"
