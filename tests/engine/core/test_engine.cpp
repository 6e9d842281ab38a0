#include <cmath>
#include <set>

#include "tests/engine/core/engine_client.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::tests;
using engine::FinishReason;
using engine::RequestState;

class TestEngine : public QObject {
    Q_OBJECT

private slots:
    void statesComeInOrderAndEndOnce() {
        const auto engine = loadEngine("llama.gguf", "scheduler: {max_batch_tokens: 16}");
        Client client;
        const auto answer = client.run(*engine, greedyRequest(randomPrompt(50, 1), 5));
        QCOMPARE(answer.terminals, 1);
        QVERIFY(answer.last.reason == FinishReason::Length);
        QCOMPARE(answer.last.outputTokens, 5U);
        QCOMPARE(answer.tokens.size(), std::size_t{5});
        auto state = RequestState::Queued;
        std::uint32_t prefilled = 0;
        for (const auto& update : answer.updates) {
            QVERIFY(update.state >= state);
            QVERIFY(update.prefilledTokens >= prefilled);
            state = update.state;
            prefilled = update.prefilledTokens;
        }
        QCOMPARE(prefilled, 50U);
        const auto& times = answer.last.times;
        QVERIFY(times.plannedNs <= times.submittedNs && times.submittedNs <= times.firstScheduledNs);
        QVERIFY(times.firstScheduledNs < times.prefillEndNs && times.prefillEndNs <= times.endNs);
    }

    void theSamePromptAgainIsCached() {
        const auto engine = loadEngine("gemma3.gguf");
        Client client;
        const auto first = client.run(*engine, greedyRequest(randomPrompt(100, 3), 8));
        const auto second = client.run(*engine, greedyRequest(randomPrompt(100, 3), 8));
        QCOMPARE(first.last.cachedTokens, 0U);
        QCOMPARE(second.last.cachedTokens, 96U);
        QCOMPARE(second.tokens, first.tokens);
        auto salted = greedyRequest(randomPrompt(100, 3), 8);
        salted.cacheSalt = "another caller";
        const auto third = client.run(*engine, salted);
        QCOMPARE(third.last.cachedTokens, 0U);
        QCOMPARE(third.tokens, first.tokens);
    }

    void cancelInEveryState_data() {
        QTest::addColumn<int>("state");
        QTest::newRow("queued") << 0;
        QTest::newRow("prefilling") << 1;
        QTest::newRow("decoding") << 2;
    }
    void cancelInEveryState() {
        QFETCH(int, state);
        const auto engine = loadEngine(
            "llama.gguf",
            "scheduler: {max_batch_tokens: 4, max_concurrent_sequences: 1}\nmodel: {max_context_tokens: 512}");
        Client client;
        engine::RequestId blocker = 0;
        if (state == 0) blocker = engine->submit(greedyRequest(randomPrompt(100, 8), 300), client.sink());
        const auto id = engine->submit(greedyRequest(randomPrompt(200, 9), 300), client.sink());
        client.until(id, [&](const Client::Answer& answer) {
            return !answer.updates.empty() && static_cast<int>(answer.last.state) >= state &&
                   (state != 1 || answer.last.prefilledTokens > 0);
        });
        engine->cancel(id);
        engine->cancel(id);
        engine->cancel(987654);
        const auto answer = client.finished(id);
        QVERIFY(answer.last.reason == FinishReason::Cancelled);
        QVERIFY(answer.last.outputTokens < 300);
        if (blocker != 0) {
            QCOMPARE(client.until(blocker, [](const auto&) { return true; }).terminals, 0);
            engine->cancel(blocker);
            client.finished(blocker);
        }
        const auto after = engine->snapshot();
        QCOMPARE(after.blocksReferenced, 0U);
        QCOMPARE(after.blocksFree + after.blocksCached, after.blocksTotal);
        QCOMPARE(client.until(id, [](const auto&) { return true; }).terminals, 1);
        Client next;
        QVERIFY(next.run(*engine, greedyRequest(randomPrompt(10, 1), 3)).last.reason == FinishReason::Length);
    }

    void vllm_39734_whatNeverFitsIsRefusedWithNumbers() {
        const auto engine = loadEngine("llama.gguf", "model: {max_context_tokens: 64}");
        Client client;
        const auto long_ = client.run(*engine, greedyRequest(randomPrompt(64, 1), 4));
        QVERIFY(long_.last.reason == FinishReason::Rejected);
        QVERIFY2(long_.last.detail.find("64") != std::string::npos, long_.last.detail.c_str());
        QCOMPARE(client.run(*engine, greedyRequest(randomPrompt(63, 1), 4)).last.outputTokens, 1U);
        QVERIFY(client.run(*engine, greedyRequest({}, 4)).last.reason == FinishReason::Rejected);
        const auto foreign = client.run(*engine, greedyRequest({1, 99999999}, 4));
        QVERIFY(foreign.last.reason == FinishReason::Rejected);
        QVERIFY(foreign.last.detail.find("99999999") != std::string::npos);
        QVERIFY(client.run(*engine, greedyRequest({-1}, 4)).last.reason == FinishReason::Rejected);
    }

    void aFullQueueRefuses() {
        const auto engine = loadEngine("llama.gguf", "scheduler: {max_concurrent_sequences: 1, max_queue: 2}");
        Client client;
        const auto running = engine->submit(greedyRequest(randomPrompt(20, 1), 400), client.sink());
        client.until(running, [](const auto& answer) { return answer.last.state == RequestState::Decoding; });
        std::vector<engine::RequestId> ids;
        for (unsigned i = 0; i < 4; ++i)
            ids.push_back(engine->submit(greedyRequest(randomPrompt(20, i), 2), client.sink()));
        QVERIFY(client.finished(ids[3]).last.reason == FinishReason::Rejected);
        QVERIFY(client.finished(ids[2]).last.reason == FinishReason::Rejected);
        engine->cancel(running);
        QVERIFY(client.finished(ids[0]).last.reason == FinishReason::Length);
        QVERIFY(client.finished(ids[1]).last.reason == FinishReason::Length);
    }

    void withoutStreamingTheAnswerComesWhole() {
        const auto engine = loadEngine("llama.gguf", "response: {streaming: false}");
        Client client;
        const auto answer = client.run(*engine, greedyRequest(randomPrompt(20, 1), 12));
        for (std::size_t i = 0; i + 1 < answer.updates.size(); ++i) QVERIFY(answer.updates[i].text.empty());
        QCOMPARE(answer.last.text, answer.text);
        QVERIFY(!answer.text.empty());
        QCOMPARE(answer.last.times.firstTokenNs, answer.last.times.endNs);
    }

    void stopStringsEndTheTextBeforeThem() {
        const auto engine = loadEngine("llama.gguf");
        Client client;
        const auto whole = client.run(*engine, greedyRequest(randomPrompt(20, 1), 30));
        for (std::size_t at = 1; at + 4 < whole.text.size(); at += 3) {
            auto request = greedyRequest(randomPrompt(20, 1), 30);
            const std::string stop = whole.text.substr(at, 4);
            if (stop.find('\xEF') != std::string::npos) continue;  // U+FFFD may be cut
            request.stopStrings = {stop};
            const auto answer = client.run(*engine, request);
            QVERIFY(answer.last.reason == FinishReason::Stop);
            QCOMPARE(answer.last.detail, stop);
            QCOMPARE(answer.text, whole.text.substr(0, whole.text.find(stop)));
        }
    }

    void aGoneClientCostsNothingOrIsCounted() {
        for (const bool cancels : {true, false}) {
            const auto engine = loadEngine("llama.gguf", cancels ? "" : "response: {cancel_on_disconnect: false}");
            Client client;
            const auto id = engine->submit(greedyRequest(randomPrompt(20, 1), 200), client.sink());
            client.until(id, [](const auto& answer) { return answer.last.outputTokens >= 3; });
            engine->disconnect(id);
            Client next;
            next.run(*engine, greedyRequest(randomPrompt(20, 2), 250));
            if (cancels) {
                QVERIFY(client.finished(id).last.reason == FinishReason::Cancelled);
                QCOMPARE(engine->snapshot().wastedTokens, std::uint64_t{0});
            } else {
                QVERIFY(engine->snapshot().wastedTokens > 0);
                QCOMPARE(engine->snapshot().finished, std::uint64_t{2});
            }
            QCOMPARE(engine->snapshot().blocksReferenced, 0U);
        }
    }

    void eventsTellTheWholeStory() {
        const auto engine = loadEngine("llama.gguf", "scheduler: {max_batch_tokens: 16}");
        Client client;
        const auto answer = client.run(*engine, greedyRequest(randomPrompt(40, 1), 6));
        // A second request, so that the first one's last step has been told.
        client.run(*engine, greedyRequest(randomPrompt(4, 2), 1));
        const auto batch = engine->events(0);
        QCOMPARE(batch.dropped, std::uint64_t{0});
        std::vector<engine::TokenId> tokens;
        std::set<engine::Stage> stages;
        int finished = 0;
        std::uint32_t rows = 0;
        engine::Nanoseconds last = 0;
        for (const engine::Event& event : batch.events) {
            if (const auto* token = std::get_if<engine::TokenEvent>(&event.what)) {
                if (token->request == answer.last.request) tokens.push_back(token->token);
            } else if (const auto* span = std::get_if<engine::SpanEvent>(&event.what)) {
                QVERIFY(span->startNs <= span->endNs);
                stages.insert(span->stage);
            } else if (const auto* state = std::get_if<engine::StateEvent>(&event.what)) {
                finished += state->state == RequestState::Finished ? 1 : 0;
            } else if (const auto* step = std::get_if<engine::StepEvent>(&event.what)) {
                rows += step->prefillRows + step->decodeRows;
                QVERIFY(step->durationNs > 0);
                QVERIFY(step->blocksReferenced + step->blocksCached <= step->blocksTotal);
            }
            last = std::max(last, event.atNs);
        }
        QCOMPARE(tokens, answer.tokens);
        QCOMPARE(finished, 2);
        QVERIFY(rows >= 40 + 5);
        for (const auto stage : {engine::Stage::Queue, engine::Stage::Prefill, engine::Stage::Decode}) {
            QVERIFY(stages.count(stage) == 1);
        }
    }

    void evaluateBesideRequests() {
        const auto engine = loadEngine("llama.gguf", "model: {precision: f32}\ncache: {kv_precision: f32}");
        Client client;
        const auto quiet = engine->evaluate({randomPrompt(60, 4), 5});
        QVERIFY(quiet.ok());
        QCOMPARE(quiet->greedy.size(), std::size_t{5});
        QCOMPARE(quiet->arithmetic, std::string("f32"));
        const auto id = engine->submit(greedyRequest(randomPrompt(20, 1), 60), client.sink());
        const auto busy = engine->evaluate({randomPrompt(60, 4), 5});
        QVERIFY(busy.ok());
        QVERIFY(busy->logits == quiet->logits);
        QCOMPARE(busy->greedy, quiet->greedy);
        QVERIFY(client.finished(id).last.reason == FinishReason::Length);
        QVERIFY(!engine->evaluate({{}, 1}).ok());
        QVERIFY(!engine->evaluate({{-5}, 1}).ok());
        QVERIFY(!engine->evaluate({{1}, 1'000'000'000}).ok());
        QCOMPARE(engine->snapshot().blocksReferenced, 0U);
    }

    void destructionEndsEveryRequest() {
        Client client;
        std::vector<engine::RequestId> ids;
        {
            const auto engine = loadEngine("llama.gguf");
            for (unsigned i = 0; i < 40; ++i)
                ids.push_back(engine->submit(greedyRequest(randomPrompt(30, i), 400), client.sink()));
        }
        for (const auto id : ids) {
            const auto answer = client.finished(id);
            QCOMPARE(answer.terminals, 1);
            QVERIFY(answer.last.reason == FinishReason::Cancelled);
        }
    }

    /// sglang#6778, vllm PR#18485: a thousand requests cancelled at any time leave every block where it was.
    void aThousandCancelledRequests() {
        const auto engine = loadEngine("llama.gguf", "scheduler: {max_queue: 4096}\ncache: {prefix_cache: false}");
        Client client;
        std::mt19937 random(11);
        std::vector<engine::RequestId> ids;
        for (unsigned i = 0; i < 1000; ++i) {
            ids.push_back(
                engine->submit(greedyRequest(randomPrompt(1 + random() % 60, i), 1 + random() % 8), client.sink()));
            if (random() % 2 == 0) engine->cancel(ids[random() % ids.size()]);
        }
        for (const auto id : ids) QCOMPARE(client.finished(id).terminals, 1);
        QCOMPARE(engine->snapshot().blocksFree, engine->snapshot().blocksTotal);
    }

    void loadingWhatIsNoModelSaysSo() {
        engine::EngineOptions options;
        options.modelPath = fixture("no-such-file.gguf");
        QVERIFY(!engine::Engine::load(options).ok());
        options.modelPath = fixture("llama.gguf");
        options.profile.cache.memoryBytes = std::uint64_t{1} << 60;
        const auto huge = engine::Engine::load(options);
        QVERIFY(!huge.ok());
        QVERIFY(huge.error().code == engine::ErrorCode::DoesNotFit);
        options.profile.cache.memoryBytes = 16;
        QVERIFY(!engine::Engine::load(options).ok());
        options.profile.cache.memoryBytes.reset();
        std::stop_source stop;
        stop.request_stop();
        options.stop = stop.get_token();
        const auto cancelled = engine::Engine::load(options);
        QVERIFY(!cancelled.ok());
        QVERIFY(cancelled.error().code == engine::ErrorCode::Cancelled);
    }
};

FIRSTTOKEN_TEST_CLASS(TestEngine);
#include "test_engine.moc"
