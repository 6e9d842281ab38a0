#include "engine/text.h"
#include "tests/engine/text/small_vocabulary.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using firsttoken::tests::SmallVocabulary;
using Ids = std::vector<TokenId>;

/// The rules of tokenizers on vocabularies that show one rule each.
class TestSmallVocabularies : public QObject {
    Q_OBJECT
private slots:
    void spmJoinsTheBestScoreFirst();
    void spmFallsBackToBytes();
    void spmPrefixesASpaceAfterSpecialTokens();
    void bpeJoinsTheLowestRankFirst();
    void bpeTakesWholePiecesWhereMergesAreIgnored();
    void rawBpe();
    void specialTokensByTypeAndTrust();
    void fillerIsNeverMatchedNorSampled();
    void bosRules_data();
    void bosRules();
    void idsOutOfRangeAreIgnored();
    void endOfGenerationExceptions();
    void controlTokensAreNotText();
    void whiteSpaceAfterSpecialTokensOfPhi3();
    void badVocabularies_data();
    void badVocabularies();

private:
    static std::shared_ptr<const Text> open(SmallVocabulary& vocabulary) {
        auto text = openText(vocabulary.write());
        if (!text.ok()) qFatal("%s", text.error().message.c_str());
        return *text;
    }
    static Ids plain(const Text& text, std::string_view what) { return text.tokenize(what, {false, false}); }
};

void TestSmallVocabularies::spmJoinsTheBestScoreFirst() {
    SmallVocabulary v("llama");
    v.writer.add("tokenizer.ggml.add_space_prefix", false);
    v.addBytes();
    const int a = v.add("a"), b = v.add("b"), c = v.add("c");
    const int ab = v.add("ab", 1, -2), bc = v.add("bc", 1, -1), aa = v.add("aa", 1, -3);
    const auto text = open(v);
    QCOMPARE(plain(*text, "abc"), (Ids{a, bc}));
    QCOMPARE(plain(*text, "ab"), (Ids{ab}));
    QCOMPARE(plain(*text, "aaa"), (Ids{aa, a}));  // equal scores: the left one
    QCOMPARE(plain(*text, "cb"), (Ids{c, b}));
    QCOMPARE(plain(*text, ""), Ids());
}

void TestSmallVocabularies::spmFallsBackToBytes() {
    SmallVocabulary v("llama");
    v.addBytes();
    v.add("\xE2\x96\x81");
    const auto text = open(v);
    QCOMPARE(plain(*text, "é"), (Ids{256, 0xC3, 0xA9}));
    QCOMPARE(plain(*text, "\xFF\xE4"), (Ids{256, 0xFF, 0xE4}));
    QCOMPARE(text->detokenize(plain(*text, "\xFF ok")), std::string("\xFF ok"));
    QCOMPARE(text->tokenBytes(0xE4), std::string("\xE4"));
}

void TestSmallVocabularies::spmPrefixesASpaceAfterSpecialTokens() {
    SmallVocabulary v("llama");
    v.addBytes();
    const int space = v.add("\xE2\x96\x81"), x = v.add("x"), mark = v.add("<m>", SmallVocabulary::userDefined);
    const auto text = open(v);
    QVERIFY(text->stripsLeadingSpace());
    QCOMPARE(plain(*text, "x<m>x"), (Ids{space, x, mark, space, x}));
    QCOMPARE(plain(*text, "<m>"), (Ids{mark}));
    QCOMPARE(text->detokenize(plain(*text, "x x")), std::string("x x"));
    QCOMPARE(text->detokenize(plain(*text, " x")), std::string(" x"));
}

void TestSmallVocabularies::bpeJoinsTheLowestRankFirst() {
    SmallVocabulary v("gpt2");
    v.writer.add("tokenizer.ggml.pre", "gpt-2");
    const int a = v.add("a"), b = v.add("b"), ab = v.add("ab"), bb = v.add("bb"), abb = v.add("abb");
    const int space = v.add("Ġ");
    v.merges = {"b b", "a b", "a bb"};
    const auto text = open(v);
    QCOMPARE(plain(*text, "abb"), (Ids{abb}));
    QCOMPARE(plain(*text, "ab"), (Ids{ab}));
    QCOMPARE(plain(*text, "bbb"), (Ids{bb, b}));
    QCOMPARE(plain(*text, "a a"), (Ids{a, space, a}));
    QCOMPARE(plain(*text, "aza"), (Ids{a, a}));  // a byte without a token is lost
    QCOMPARE(text->detokenize(Ids{space, abb}), std::string(" abb"));
}

void TestSmallVocabularies::bpeTakesWholePiecesWhereMergesAreIgnored() {
    for (const bool ignores : {true, false}) {
        SmallVocabulary v("gpt2");
        v.writer.add("tokenizer.ggml.pre", ignores ? "llama-bpe" : "qwen2");
        const int a = v.add("a"), b = v.add("b"), whole = v.add("ab");
        const auto text = open(v);
        QCOMPARE(plain(*text, "ab"), ignores ? (Ids{whole}) : (Ids{a, b}));
    }
}

void TestSmallVocabularies::rawBpe() {
    SmallVocabulary v("gemma4");
    v.addBytes();
    const int space = v.add("\xE2\x96\x81"), word = v.add("中文"), zhong = v.add("中"), wen = v.add("文");
    const int lines = v.add("\n\n");
    v.merges = {"中 文"};
    const auto text = open(v);
    QCOMPARE(plain(*text, " 中文"), (Ids{space, word}));
    QCOMPARE(plain(*text, "文中"), (Ids{wen, zhong}));
    QCOMPARE(plain(*text, "\n\n"), (Ids{lines}));
    QCOMPARE(plain(*text, "é"), (Ids{0xC3, 0xA9}));
    QCOMPARE(text->detokenize(plain(*text, " 中\n\né")), std::string(" 中\n\né"));
}

void TestSmallVocabularies::specialTokensByTypeAndTrust() {
    SmallVocabulary v("llama");
    v.writer.add("tokenizer.ggml.add_space_prefix", false);
    v.addBytes();
    const int start = v.add("<|im_start|>", SmallVocabulary::control);
    const int longer = v.add("<|im_start|>>", SmallVocabulary::userDefined);
    const auto text = open(v);
    QCOMPARE(plain(*text, "<|im_start|>").size(), std::size_t(12));
    QCOMPARE(text->tokenize("<|im_start|>", {false, true}), (Ids{start}));
    QCOMPARE(plain(*text, "<|im_start|>>"), (Ids{longer}));
    QCOMPARE(text->tokenize("<|im_start|>>", {false, true}), (Ids{longer}));

    const std::vector<RenderedPiece> pieces = {{"<|im_", true}, {"start|>", true}, {"<|im_start|>", false}};
    const Ids ids = text->tokenizeRendered(pieces);
    QCOMPARE(std::count(ids.begin(), ids.end(), start), 1);
    const std::vector<RenderedPiece> mixed = {{"<|im_st", true}, {"art|>", false}};
    const Ids none = text->tokenizeRendered(mixed);
    QCOMPARE(std::count(none.begin(), none.end(), start), 0);
}

void TestSmallVocabularies::fillerIsNeverMatchedNorSampled() {
    SmallVocabulary v("llama");
    v.writer.add("tokenizer.ggml.add_space_prefix", false);
    v.addBytes();
    const std::vector<std::int32_t> suppressed = {5, 3, 5, 99999, -1};
    v.writer.add("tokenizer.ggml.suppress_tokens", std::span<const std::int32_t>(suppressed));
    const int filler = v.add("[PAD256]", SmallVocabulary::userDefined);
    v.add("[PAD]", SmallVocabulary::userDefined);
    const auto text = open(v);
    QCOMPARE(plain(*text, "[PAD256]").size(), std::size_t(8));
    QCOMPARE(text->tokenize("[PAD256]", {false, true}).size(), std::size_t(8));
    QCOMPARE(plain(*text, "[PAD]"), (Ids{257}));
    const auto never = text->neverSampled();
    QCOMPARE(Ids(never.begin(), never.end()), (Ids{3, 5, filler}));
}

void TestSmallVocabularies::bosRules_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("pre");
    QTest::addColumn<QString>("key");
    QTest::addColumn<bool>("expected");
    QTest::newRow("SPM adds") << "llama"
                              << "default"
                              << "" << true;
    QTest::newRow("SPM told not to") << "llama"
                                     << "default"
                                     << "false" << false;
    QTest::newRow("BPE does not") << "gpt2"
                                  << "qwen2"
                                  << "" << false;
    QTest::newRow("BPE told to") << "gpt2"
                                 << "gpt-2"
                                 << "true" << true;
    QTest::newRow("llama-bpe adds") << "gpt2"
                                    << "llama-bpe"
                                    << "" << true;
    QTest::newRow("llama-bpe told not to") << "gpt2"
                                           << "llama-bpe"
                                           << "false" << false;
    QTest::newRow("tekken adds") << "gpt2"
                                 << "tekken"
                                 << "" << true;
    QTest::newRow("glm4 does not") << "gpt2"
                                   << "glm4"
                                   << "" << false;
}

void TestSmallVocabularies::bosRules() {
    QFETCH(QString, model);
    QFETCH(QString, pre);
    QFETCH(QString, key);
    QFETCH(bool, expected);
    SmallVocabulary v(model.toStdString());
    v.writer.add("tokenizer.ggml.pre", pre.toStdString());
    v.writer.add("tokenizer.ggml.bos_token_id", std::uint32_t{1});
    if (!key.isEmpty()) v.writer.add("tokenizer.ggml.add_bos_token", key == "true");
    v.add("<unk>", SmallVocabulary::unknown);
    v.add("<s>", SmallVocabulary::control);
    v.add("</s>", SmallVocabulary::control);
    v.add("x");
    const auto text = open(v);
    QCOMPARE(text->addsBos(), expected);
    const auto count = [](const Ids& ids) { return std::count(ids.begin(), ids.end(), 1); };
    QCOMPARE(count(text->tokenize("x", {true, false})), expected ? 1 : 0);
    QCOMPARE(count(text->tokenize("x", {false, false})), 0);
    // One that is there already is not doubled.
    QCOMPARE(count(text->tokenize("<s>x", {true, true})), 1);
    QCOMPARE(count(text->tokenizeRendered(std::vector<RenderedPiece>{{"<s>", true}, {"x", false}})), 1);
    QCOMPARE(count(text->tokenizeRendered(std::vector<RenderedPiece>{{"x", false}})), expected ? 1 : 0);
    QCOMPARE(text->tokenize("", {true, false}).size(), std::size_t(expected ? 1 : 0));
}

void TestSmallVocabularies::idsOutOfRangeAreIgnored() {
    SmallVocabulary v("gpt2");
    v.writer.add("tokenizer.ggml.pre", "gpt-2");
    v.writer.add("tokenizer.ggml.bos_token_id", std::uint32_t{4000000000U});
    v.writer.add("tokenizer.ggml.eos_token_id", std::uint32_t{77});
    v.writer.add("tokenizer.ggml.add_bos_token", true);
    v.writer.add("tokenizer.ggml.add_eos_token", true);
    const int a = v.add("a");
    const auto text = open(v);
    QVERIFY(!text->bos() && !text->eos() && !text->addsBos());
    QCOMPARE(text->tokenize("a"), (Ids{a}));
    QVERIFY(!text->isEndOfGeneration(77) && !text->isEndOfGeneration(-1));
    QCOMPARE(text->tokenBytes(77) + text->tokenText(-1), std::string());
}

void TestSmallVocabularies::endOfGenerationExceptions() {
    SmallVocabulary v("gpt2");
    v.writer.add("tokenizer.ggml.pre", "gpt-2");
    const int end = v.add("<|end|>", SmallVocabulary::control);
    const int sentence = v.add("</s>", SmallVocabulary::userDefined);
    const int eot = v.add("<|eot_id|>");
    const int stop = v.add("stop");
    v.writer.add("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(stop));
    {
        const auto text = open(v);
        for (const int id : {end, sentence, eot, stop}) QVERIFY(text->isEndOfGeneration(id));
        QCOMPARE(text->tokenBytes(eot), std::string());  // by its text a control token, whatever its type
    }
    SmallVocabulary harmony("gpt2");
    harmony.writer.add("tokenizer.ggml.pre", "gpt-2");
    harmony.add("<|end|>", SmallVocabulary::control);
    harmony.add("<|return|>", SmallVocabulary::control);
    harmony.add("<|call|>", SmallVocabulary::control);
    harmony.add("</s>", SmallVocabulary::control);
    harmony.add("<|tool_response>", SmallVocabulary::control);
    harmony.add("<|channel|>", SmallVocabulary::control);
    const auto text = open(harmony);
    QVERIFY(!text->isEndOfGeneration(0) && text->isEndOfGeneration(1) && text->isEndOfGeneration(2));
    QVERIFY(!text->isEndOfGeneration(3) && text->isEndOfGeneration(4));
    QCOMPARE(text->tokenBytes(5), std::string("<|channel|>"));  // seen in the stream
    QVERIFY(plain(*text, "<|channel|>").empty());               // but not made by what people type
}

void TestSmallVocabularies::controlTokensAreNotText() {
    SmallVocabulary v("llama");
    v.writer.add("tokenizer.ggml.add_space_prefix", false);
    v.addBytes();
    v.add("<", 1, -1);
    v.add("s", 1, -1);
    v.add(">", 1, -1);
    v.add("<s", 1, -1);
    const int control = v.add("<s>", SmallVocabulary::control, 5);  // merges would reach it
    const auto text = open(v);
    const Ids ids = plain(*text, "<s>");
    QCOMPARE(std::count(ids.begin(), ids.end(), control), 0);
    QCOMPARE(text->detokenize(ids), std::string("<s>"));
    QCOMPARE(text->tokenText(control), std::string("<s>"));
    QCOMPARE(text->tokenBytes(control), std::string());
}

void TestSmallVocabularies::whiteSpaceAfterSpecialTokensOfPhi3() {
    SmallVocabulary v("llama");
    v.writer.add("general.name", "My-Phi-3-tune");
    v.writer.add("tokenizer.ggml.add_space_prefix", false);
    v.addBytes();
    const int user = v.add("<|user|>", SmallVocabulary::control);
    const int s = v.add("<s>", SmallVocabulary::control);
    const auto text = open(v);
    QCOMPARE(text->tokenize("<|user|> \n\tx", {false, true}), (Ids{user, 'x'}));
    QCOMPARE(text->tokenize("<s>\nx", {false, true}), (Ids{s, '\n', 'x'}));
}

void TestSmallVocabularies::badVocabularies_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("named");
    QTest::newRow("tokenizer model") << 0 << "bert";
    QTest::newRow("pre-tokenizer") << 1 << "martian";
    QTest::newRow("no tokens") << 2 << "tokenizer.ggml.tokens";
    QTest::newRow("scores of another length") << 3 << "tokenizer.ggml.scores";
    QTest::newRow("types of another length") << 4 << "tokenizer.ggml.token_type";
    QTest::newRow("a merge without a space") << 5 << "ab";
}

void TestSmallVocabularies::badVocabularies() {
    QFETCH(int, which);
    QFETCH(QString, named);
    SmallVocabulary v(which == 0 ? "bert" : which == 1 || which == 5 ? "gpt2" : "llama");
    if (which != 2) v.add("a");
    if (which == 1) v.writer.add("tokenizer.ggml.pre", "martian");
    if (which == 3) v.withScores = false;
    if (which == 4) v.withTypes = false;
    const std::vector<float> scores = {1, 2, 3};
    const std::vector<std::int32_t> types = {1, 1, 1};
    if (which == 3) v.writer.add("tokenizer.ggml.scores", std::span<const float>(scores));
    if (which == 4) v.writer.add("tokenizer.ggml.token_type", std::span<const std::int32_t>(types));
    if (which == 5) v.merges = {"ab"};
    const auto text = openText(v.write());
    QVERIFY(!text.ok());
    QCOMPARE(text.error().code, which < 2 ? ErrorCode::Unsupported : ErrorCode::BadInput);
    QVERIFY2(text.error().message.find(named.toStdString()) != std::string::npos, text.error().message.c_str());
    if (which < 2) QVERIFY(text.error().message.find("supported: ") != std::string::npos);
}

FIRSTTOKEN_TEST_CLASS(TestSmallVocabularies);
#include "test_small_vocabularies.moc"
