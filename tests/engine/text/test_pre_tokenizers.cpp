#include <QFile>
#include <nlohmann/json.hpp>

#include "engine/text/pretokenize/pre_tokenizer.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

/// The scanners against what a regular-expression engine makes of the published expressions. The file holds texts,
/// and for each pre-tokenizer the lengths of the pieces in code points.
class TestPreTokenizers : public QObject {
    Q_OBJECT
private slots:
    void sameAsTheExpressions_data();
    void sameAsTheExpressions();
    void names();

private:
    static nlohmann::json cases() {
        QFile file(FIRSTTOKEN_SOURCE_DIR "/tests/engine/text/pre_tokenizer_cases.json");
        if (!file.open(QIODevice::ReadOnly)) qFatal("no pre_tokenizer_cases.json");
        return nlohmann::json::parse(file.readAll().toStdString());
    }
};

void TestPreTokenizers::sameAsTheExpressions_data() {
    QTest::addColumn<QString>("name");
    const auto data = cases();
    for (const auto& entry : data["pieces"].items()) {
        const QString name = QString::fromStdString(entry.key());
        QTest::newRow(qPrintable(name)) << name;
    }
}

void TestPreTokenizers::sameAsTheExpressions() {
    QFETCH(QString, name);
    const PreTokenizer* pre = findPreTokenizer(name.toStdString());
    QVERIFY(pre != nullptr);
    const auto data = cases();
    const auto& expected = data["pieces"][name.toStdString()];
    QCOMPARE(expected.size(), data["texts"].size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto text = data["texts"][i].get<std::string>();
        std::vector<std::size_t> lengths;
        for (const Piece piece : split(*pre, CodePoints(text))) lengths.push_back(piece.end - piece.begin);
        QVERIFY2(lengths == expected[i].get<std::vector<std::size_t>>(),
                 ("text " + data["texts"][i].dump() + "\n  expected " + expected[i].dump() + "\n  got      " +
                  nlohmann::json(lengths).dump())
                     .c_str());
    }
}

void TestPreTokenizers::names() {
    QVERIFY(findPreTokenizer("martian") == nullptr);
    QVERIFY(findPreTokenizer("") == nullptr);
    QCOMPARE(std::string(findPreTokenizer("pixtral")->family), std::string("llama-bpe"));
    QVERIFY(knownPreTokenizers().find("llama-bpe, ") != std::string::npos);
}

FIRSTTOKEN_TEST_CLASS(TestPreTokenizers);
#include "test_pre_tokenizers.moc"
