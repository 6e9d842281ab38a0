#include <QDir>
#include <QFile>
#include <random>

#include "engine/text/stream_decoder.h"
#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using firsttoken::tests::sharedFolder;

/// The public vocabularies of the reference folder: their own texts and ids, and round trips.
class TestReferenceVocabularies : public QObject {
    Q_OBJECT
private slots:
    void expectedIds_data() { vocabularies(); }
    void expectedIds();
    void randomStringsRoundTrip_data() { vocabularies(); }
    void randomStringsRoundTrip();
    void streamedTextIsTheWholeText_data() { vocabularies(); }
    void streamedTextIsTheWholeText();
    void longRuns_data() { vocabularies(); }
    void longRuns();
    void gemma3();

private:
    static void vocabularies();
};

static std::string vocabularyPath(const QString& name) {
    return sharedFolder() + "/data/vocab/ggml-vocab-" + name.toStdString() + ".gguf";
}

static std::unique_ptr<Tokenizer> openTokenizer(const std::string& path) {
    auto file = GgufFile::open(path);
    if (!file.ok()) qFatal("%s", file.error().message.c_str());
    auto vocabulary = loadVocabulary(*std::move(file));
    if (!vocabulary.ok()) qFatal("%s", vocabulary.error().message.c_str());
    return std::make_unique<Tokenizer>(*std::move(vocabulary));
}

void TestReferenceVocabularies::vocabularies() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"llama-spm", "phi-3", "llama-bpe", "qwen2", "gpt-2", "starcoder", "deepseek-coder"}) {
        QTest::newRow(name) << name;
    }
}

/// Texts of NAME.inp against the ids of NAME.out.
static void compareWithFiles(const Tokenizer& tokenizer, const std::string& path) {
    QFile input(QString::fromStdString(path + ".inp"));
    QFile output(QString::fromStdString(path + ".out"));
    QVERIFY(input.open(QIODevice::ReadOnly) && output.open(QIODevice::ReadOnly));
    const std::string separator = "\n__ggml_vocab_test__\n";
    const std::string all = input.readAll().toStdString();
    int count = 0;
    for (std::size_t at = 0; at < all.size(); ++count) {
        const std::size_t end = all.find(separator, at);
        QVERIFY(end != std::string::npos);
        const std::string text = all.substr(at, end - at);
        at = end + separator.size();
        std::vector<TokenId> expected;
        for (const QByteArray& id : output.readLine().split(' ')) {
            if (!id.trimmed().isEmpty()) expected.push_back(id.trimmed().toInt());
        }
        const auto ids = tokenizer.encode(text, Trust::none(), false, false);
        QVERIFY2(ids == expected, ("text " + std::to_string(count) + ": " + text).c_str());
        QCOMPARE(tokenizer.decode(ids), text);
    }
    QCOMPARE(count, 46);
}

void TestReferenceVocabularies::expectedIds() {
    QFETCH(QString, name);
    if (sharedFolder().empty()) QSKIP("the reference folder is absent");
    compareWithFiles(*openTokenizer(vocabularyPath(name)), vocabularyPath(name));
}

void TestReferenceVocabularies::gemma3() {
    if (sharedFolder().empty()) QSKIP("the reference folder is absent");
    // Its vocabulary is in the catalogue's model, where that has been fetched.
    const QString data = qEnvironmentVariable("XDG_DATA_HOME", QDir::homePath() + "/.local/share");
    const QString model =
        qEnvironmentVariable("FIRSTTOKEN_GEMMA3", data + "/firsttoken/models/gemma-3-270m-q4_k_m.gguf");
    if (!QFile::exists(model)) QSKIP("the model gemma-3-270m is not there");
    const auto tokenizer = openTokenizer(model.toStdString());
    compareWithFiles(*tokenizer, sharedFolder() + "/data/vocab/gemma-3-270m");
    for (const char* unit : {"A", " ", "\n", "us", "\u4e2d", "<"}) {
        std::string text;
        while (text.size() < 1'000'000) text += unit;
        QCOMPARE(tokenizer->decode(tokenizer->encode(text, Trust::none(), false, false)), text);
    }
    QVERIFY(tokenizer->vocabulary().endOfGeneration[106]);
}

static std::string randomText(std::mt19937& random) {
    static const std::vector<std::string> parts = {
        "a",  "B",  "zebra", " ",  "  ", "\n", "\t",     "7",           "2026",    ".",
        "'s", "—",  "é",     "ї",  "中", "文", "😀",      "👩‍👧", "e\u0301", "\u00A0",
        "<",  "|>", "{\"",   "\r", "ß",  "한", "\u2028", "١",           "DON'T",   "_"};
    std::string text;
    for (unsigned length = random() % 20; length > 0; --length) text += parts[random() % parts.size()];
    return text;
}

void TestReferenceVocabularies::randomStringsRoundTrip() {
    QFETCH(QString, name);
    if (sharedFolder().empty()) QSKIP("the reference folder is absent");
    const auto tokenizer = openTokenizer(vocabularyPath(name));
    std::mt19937 random(3);
    for (int round = 0; round < 10000; ++round) {
        const std::string text = randomText(random);
        QCOMPARE(tokenizer->decode(tokenizer->encode(text, Trust::none(), true, false)), text);
    }
}

void TestReferenceVocabularies::streamedTextIsTheWholeText() {
    QFETCH(QString, name);
    if (sharedFolder().empty()) QSKIP("the reference folder is absent");
    const auto tokenizer = openTokenizer(vocabularyPath(name));
    std::mt19937 random(5);
    for (int round = 0; round < 1000; ++round) {
        std::string bytes;
        std::string streamed;
        StreamDecoder decoder;
        for (unsigned length = random() % 30; length > 0; --length) {
            const auto id = static_cast<TokenId>(random() % tokenizer->vocabulary().size());
            bytes += tokenizer->tokenBytes(id);
            streamed += decoder.push(tokenizer->tokenBytes(id));
        }
        streamed += decoder.flush();
        QCOMPARE(streamed, sanitizeUtf8(bytes));
    }
}

void TestReferenceVocabularies::longRuns() {
    QFETCH(QString, name);
    if (sharedFolder().empty()) QSKIP("the reference folder is absent");
    const auto tokenizer = openTokenizer(vocabularyPath(name));
    for (const char* unit : {"A", " ", "\n", "中", "😀", ".", "7", "us"}) {
        std::string text;
        while (text.size() < 1'000'000) text += unit;
        const auto ids = tokenizer->encode(text, Trust::none(), false, false);
        QCOMPARE(tokenizer->decode(ids), text);
    }
}

FIRSTTOKEN_TEST_CLASS(TestReferenceVocabularies);
#include "test_reference_vocabularies.moc"
