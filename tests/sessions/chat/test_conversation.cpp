#include <thread>

#include "sessions/conversation.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace std::chrono_literals;
using engine::ChatMessage;
using engine::ErrorCode;
using engine::FinishReason;
using engine::RequestState;
using engine::Result;
using engine::TokenId;

namespace {

/// One token a byte; the prompt is "role:content\n" for each message.
class FakeText final : public engine::Text {
public:
    std::vector<TokenId> tokenize(std::string_view text, const engine::TokenizeOptions&) const override {
        return {text.begin(), text.end()};
    }
    std::string tokenBytes(TokenId id) const override { return std::string(1, static_cast<char>(id)); }
    std::string tokenText(TokenId id) const override { return tokenBytes(id); }
    std::string detokenize(std::span<const TokenId> ids) const override { return {ids.begin(), ids.end()}; }
    bool stripsLeadingSpace() const override { return false; }
    std::size_t vocabularySize() const override { return 256; }
    std::optional<TokenId> bos() const override { return std::nullopt; }
    std::optional<TokenId> eos() const override { return std::nullopt; }
    bool addsBos() const override { return false; }
    bool isEndOfGeneration(TokenId) const override { return false; }
    std::span<const TokenId> neverSampled() const override { return {}; }
    const std::string& chatTemplate() const override { return m_template; }
    bool hasOwnTemplate() const override { return false; }
    Result<std::vector<engine::RenderedPiece>> render(std::string_view, std::string_view,
                                                      std::string_view) const override {
        return std::vector<engine::RenderedPiece>();
    }
    std::vector<TokenId> tokenizeRendered(std::span<const engine::RenderedPiece>) const override { return {}; }
    Result<engine::BuiltPrompt> buildPrompt(std::span<const ChatMessage> messages, std::size_t budget,
                                            engine::TrimPolicy trim, std::string_view templateText) const override {
        engine::BuiltPrompt built;
        built.text = templateText;
        std::vector<ChatMessage> kept(messages.begin(), messages.end());
        const auto length = [&] {
            std::size_t bytes = 0;
            for (const auto& message : kept) bytes += message.role.size() + message.content.size() + 2;
            return bytes;
        };
        const std::size_t first = !kept.empty() && kept[0].role == "system" ? 1 : 0;
        while (trim == engine::TrimPolicy::DropOldest && length() > budget && kept.size() > first + 1) {
            kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(first));
            ++built.droppedMessages;
        }
        if (length() > budget)
            return engine::Error{ErrorCode::DoesNotFit, "over the budget of " + std::to_string(budget)};
        for (const auto& message : kept) built.text += message.role + ":" + message.content + "\n";
        built.tokens = tokenize(built.text, {});
        return built;
    }
    std::vector<std::string> impliedStops() const override { return {"\nuser:"}; }

private:
    std::string m_template = "plain";
};

/// Keeps requests until the test answers them.
class FakeEngine final : public engine::Engine {
public:
    FakeEngine() { m_effective.profile.model.maxContextTokens = 200; }

    engine::RequestId submit(engine::Request request, engine::UpdateSink sink) override {
        requests.push_back(std::move(request));
        sinks.push_back(std::move(sink));
        return requests.size();
    }
    void cancel(engine::RequestId request) override { cancelled.push_back(request); }
    void disconnect(engine::RequestId) override {}
    Result<engine::Evaluation> evaluate(const engine::EvaluateRequest&) override { return engine::Evaluation(); }
    engine::EngineSnapshot snapshot() const override { return {}; }
    engine::EventBatch events(std::uint64_t) const override { return {}; }
    const engine::ModelInfo& model() const override { return m_model; }
    const engine::Text& text() const override { return m_text; }
    const engine::Profile& requestedProfile() const override { return m_effective.profile; }
    const engine::EffectiveProfile& effective() const override { return m_effective; }
    std::string isa() const override { return "plain"; }
    std::string arithmetic() const override { return "f32"; }

    std::string prompt() const { return m_text.detokenize(requests.back().prompt); }
    /// Ends the last request with this text.
    void answer(const std::string& text, FinishReason reason = FinishReason::Stop, const std::string& detail = {}) {
        engine::RequestUpdate update;
        update.request = requests.size();
        update.state = RequestState::Finished;
        update.reason = reason;
        update.text = text;
        update.detail = detail;
        update.outputTokens = static_cast<std::uint32_t>(text.size());
        update.times.plannedNs = requests.back().plannedNs;
        update.times.firstTokenNs = text.empty() ? 0 : update.times.plannedNs + 2'000'000;
        update.times.endNs = update.times.plannedNs + 12'000'000;
        sinks.back()(update);
    }

    std::vector<engine::Request> requests;
    std::vector<engine::UpdateSink> sinks;
    std::vector<engine::RequestId> cancelled;

private:
    engine::ModelInfo m_model;
    FakeText m_text;
    engine::EffectiveProfile m_effective;
};

void run(sessions::Conversation& chat, FakeEngine& engine, const std::string& turn, const std::string& answer) {
    QVERIFY(chat.send(turn).ok());
    engine.answer(answer);
    while (chat.busy()) chat.wait(1s);
}

}  // namespace

class TestConversation : public QObject {
    Q_OBJECT

private slots:
    void turnsBuildOnEachOther() {
        FakeEngine engine;
        sessions::Conversation chat(engine, {});
        chat.setSystemPrompt("be brief");
        run(chat, engine, "one", " first");
        QCOMPARE(engine.prompt(), std::string("system:be brief\nuser:one\n"));
        run(chat, engine, "two", "second");
        QCOMPARE(engine.prompt(), std::string("system:be brief\nuser:one\nassistant:first\nuser:two\n"));
        QCOMPARE(chat.messages().size(), std::size_t{4});
        QCOMPARE(engine.requests.back().stopStrings, (std::vector<std::string>{"\nuser:"}));
        chat.startNew();
        run(chat, engine, "one", "first");
        QCOMPARE(engine.prompt(), std::string("system:be brief\nuser:one\n"));
    }

    void settingsReachTheRequest() {
        FakeEngine engine;
        sessions::ChatSettings settings;
        settings.sampling.temperature = 0;
        settings.sampling.seed = 7;
        settings.maxTokens = 5;
        settings.stopStrings = {"END"};
        settings.cacheSalt = "salt";
        sessions::Conversation chat(engine, settings);
        QVERIFY(chat.send("x").ok());
        const auto& request = engine.requests.back();
        QCOMPARE(request.sampling, settings.sampling);
        QCOMPARE(request.maxTokens, std::int64_t{5});
        QCOMPARE(request.stopStrings, (std::vector<std::string>{"END", "\nuser:"}));
        QCOMPARE(request.cacheSalt, std::string("salt"));
        QVERIFY(request.plannedNs > 0);
        engine.answer("y");
        while (chat.busy()) chat.wait(1s);
        settings.chatTemplate = "mine ";
        chat.setSettings(settings);
        QVERIFY(chat.send("z").ok());
        QVERIFY(engine.prompt().starts_with("mine "));
        QCOMPARE(engine.requests.back().stopStrings, (std::vector<std::string>{"END"}));
    }

    void regeneratingReplacesTheReply() {
        FakeEngine engine;
        sessions::Conversation chat(engine, {});
        QVERIFY(chat.regenerate().error().code == ErrorCode::NotFound);
        run(chat, engine, "one", "first");
        QVERIFY(chat.regenerate().ok());
        QCOMPARE(engine.prompt(), std::string("user:one\n"));
        engine.answer("better");
        while (chat.busy()) chat.wait(1s);
        QCOMPARE(chat.messages().back(), (ChatMessage{"assistant", "better"}));
        QVERIFY(chat.regenerate().ok());
        engine.answer("", FinishReason::Cancelled);
        while (chat.busy()) chat.wait(1s);
        QCOMPARE(chat.messages().back(), (ChatMessage{"assistant", "better"}));
    }

    void aFailedTurnIsTakenBack_data() {
        QTest::addColumn<int>("reason");
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("messages");
        QTest::newRow("rejected") << static_cast<int>(FinishReason::Rejected) << "" << 0;
        QTest::newRow("error after text") << static_cast<int>(FinishReason::Error) << "par" << 0;
        QTest::newRow("cancelled before text") << static_cast<int>(FinishReason::Cancelled) << "" << 0;
        QTest::newRow("cancelled after text") << static_cast<int>(FinishReason::Cancelled) << "par" << 2;
        QTest::newRow("stopped at once") << static_cast<int>(FinishReason::Stop) << "" << 2;
    }
    void aFailedTurnIsTakenBack() {
        QFETCH(int, reason);
        QFETCH(QString, text);
        QFETCH(int, messages);
        FakeEngine engine;
        sessions::Conversation chat(engine, {});
        QVERIFY(chat.send("one").ok());
        engine.answer(text.toStdString(), static_cast<FinishReason>(reason), "why");
        while (chat.busy()) chat.wait(1s);
        QCOMPARE(static_cast<int>(chat.messages().size()), messages);
        QCOMPARE(chat.reply().detail, std::string("why"));
    }

    void overTheContextIsRefusedBeforeTheEngine() {
        FakeEngine engine;
        sessions::Conversation chat(engine, {});
        const auto sent = chat.send(std::string(200, 'x'));
        QVERIFY(!sent.ok());
        QVERIFY(sent.error().code == ErrorCode::DoesNotFit);
        QVERIFY(sent.error().message.find("199") != std::string::npos);
        QVERIFY(engine.requests.empty());
        QVERIFY(chat.messages().empty());
        QVERIFY(!chat.busy());
        run(chat, engine, std::string(193, 'x'), "fits with one token of room");
    }

    void droppingLeavesRoomForTheNextTurns() {
        FakeEngine engine;
        sessions::ChatSettings settings;
        settings.trim = engine::TrimPolicy::DropOldest;
        sessions::Conversation chat(engine, settings);
        chat.setSystemPrompt("S");
        std::string before;
        int newStarts = 0;
        std::size_t dropped = 0;
        for (int i = 0; i < 20; ++i) {
            run(chat, engine, "turn " + std::to_string(i), "answer");
            const auto prompt = engine.prompt();
            QVERIFY(prompt.size() <= 150);
            QVERIFY(prompt.starts_with("system:S\n"));
            QVERIFY(prompt.ends_with("user:turn " + std::to_string(i) + "\n"));
            if (!before.empty() && !prompt.starts_with(before)) ++newStarts;
            QVERIFY(chat.reply().droppedMessages >= dropped);
            dropped = chat.reply().droppedMessages;
            before = prompt;
        }
        QVERIFY(dropped > 20);
        QVERIFY2(newStarts >= 2 && newStarts <= 14, qPrintable(QString::number(newStarts)));
        QCOMPARE(chat.messages().size(), std::size_t{40});
    }

    void figuresFollowTheirDefinitions() {
        FakeEngine engine;
        sessions::Conversation chat(engine, {});
        run(chat, engine, "one", "12345");
        QCOMPARE(chat.reply().ttftMs(), std::optional<double>(2.0));
        QCOMPARE(chat.reply().tpotMs(), std::optional<double>(2.5));
        QCOMPARE(chat.reply().tokensPerS(), std::optional<double>(400.0));
        run(chat, engine, "two", "1");
        QVERIFY(chat.reply().ttftMs().has_value());
        QVERIFY(!chat.reply().tpotMs().has_value());
        run(chat, engine, "three", "");
        QVERIFY(!chat.reply().ttftMs().has_value());
    }

    void cancelIsSafeAtAnyTime() {
        FakeEngine engine;
        {
            sessions::Conversation chat(engine, {});
            chat.cancel();
            QVERIFY(engine.cancelled.empty());
            QVERIFY(chat.send("one").ok());
            chat.cancel();
            chat.cancel();
            QCOMPARE(engine.cancelled, (std::vector<engine::RequestId>{1, 1}));
        }
        engine.answer("late news for nobody");  // the queue outlives the conversation
    }

    void updatesFromAnotherThreadAreMergedInOrder() {
        sessions::UpdateQueue queue;
        constexpr int count = 10'000;
        std::thread writer([&] {
            for (int i = 1; i <= count; ++i) {
                engine::RequestUpdate update;
                update.text = static_cast<char>('a' + i % 26);
                update.tokens = {i};
                update.outputTokens = static_cast<std::uint32_t>(i);
                queue.push(update);
            }
        });
        std::vector<TokenId> tokens;
        std::string text;
        std::uint32_t last = 0;
        while (last < count) {
            const auto update = queue.take(1s);
            if (!update) continue;
            text += update->text;
            tokens.insert(tokens.end(), update->tokens.begin(), update->tokens.end());
            last = update->outputTokens;
        }
        writer.join();
        QCOMPARE(tokens.size(), std::size_t{count});
        for (int i = 0; i < count; ++i) {
            QCOMPARE(tokens[static_cast<std::size_t>(i)], i + 1);
            QCOMPARE(text[static_cast<std::size_t>(i)], static_cast<char>('a' + (i + 1) % 26));
        }
        QVERIFY(!queue.take(0ms));
    }
};

FIRSTTOKEN_TEST_CLASS(TestConversation);
#include "test_conversation.moc"
