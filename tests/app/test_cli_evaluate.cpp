#include <QFile>
#include <cmath>

#include "tests/app/cli_run.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::tests;

class TestCliEvaluate : public QObject {
    Q_OBJECT

    CliBench m_bench;

    CliResult evaluate(const QByteArray& tokens, const QStringList& more = {}) {
        return m_bench.run(QStringList{"evaluate", "--json", "--model", fixturePath("llama.gguf"), "--tokens",
                                       m_bench.file("tokens.json", tokens)} +
                           more);
    }

private slots:
    void theFixturesOwnFileIsUnderstood() {
        const auto profile = m_bench.file("exact.yaml", "model: {precision: f32}\ncache: {kv_precision: f32}\n");
        const auto result = m_bench.run({"evaluate", "--json", "--model", fixturePath("llama.gguf"), "--tokens",
                                         fixturePath("llama.json"), "--profile", profile, "--greedy", "4"});
        QVERIFY2(result.exitCode == 0, result.told());
        const auto object = result.object();
        QFile file(fixturePath("llama.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto wanted = QJsonDocument::fromJson(file.readAll()).object();
        const auto logits = object["logits"].toArray();
        QCOMPARE(logits.size(), wanted["logits"].toArray().size());
        double least = 1e30;
        double most = -1e30;
        double error = 0;
        for (qsizetype i = 0; i < logits.size(); ++i) {
            const auto expected = wanted["logits"].toArray()[i].toDouble();
            least = std::min(least, expected);
            most = std::max(most, expected);
            error = std::max(error, std::abs(expected - logits[i].toDouble()));
        }
        QVERIFY(error < 2e-4 * (most - least));
        QCOMPARE(object["greedy"].toArray().size(), 4);
        QCOMPARE(object["kv_precision"].toString(), QString("f32"));
        QCOMPARE(object["arithmetic"].toString(), QString("f32"));
        QVERIFY(!object["isa"].toString().isEmpty());
    }

    void aListAndAnObjectAreTheSame() {
        const auto list = evaluate("[1, 5, 9]");
        QVERIFY2(list.exitCode == 0, list.told());
        QVERIFY(list.err.isEmpty());
        QCOMPARE(evaluate(R"({"prompt": [1, 5, 9], "context": 32, "other": {}})").object()["logits"],
                 list.object()["logits"]);
        QVERIFY(list.object()["greedy"].toArray().isEmpty());
    }

    void badTokenFilesAreOneSentence_data() {
        QTest::addColumn<QByteArray>("tokens");
        QTest::addColumn<QByteArray>("named");
        QTest::newRow("empty file") << QByteArray() << QByteArray("JSON");
        QTest::newRow("broken") << QByteArray("[1,\n 2,,3]") << QByteArray("tokens.json:2:4");
        QTest::newRow("empty list") << QByteArray("[]") << QByteArray("empty");
        QTest::newRow("a number") << QByteArray("7") << QByteArray("list");
        QTest::newRow("a text") << QByteArray("\"hello\"") << QByteArray("list");
        QTest::newRow("no prompt") << QByteArray("{}") << QByteArray("prompt");
        QTest::newRow("prompt is text") << QByteArray(R"({"prompt": "hi"})") << QByteArray("list");
        QTest::newRow("a text inside") << QByteArray("[1, \"2\"]") << QByteArray("entry 2");
        QTest::newRow("negative") << QByteArray("[1, -2]") << QByteArray("-2");
        QTest::newRow("fraction") << QByteArray("[1.5]") << QByteArray("1.5");
        QTest::newRow("over 32 bits") << QByteArray("[4294967297]") << QByteArray("4294967297");
        QTest::newRow("over 64 bits") << QByteArray("[99999999999999999999]") << QByteArray("entry 1");
        QTest::newRow("not in the vocabulary") << QByteArray("[1, 999999]") << QByteArray("999999");
        QTest::newRow("context") << QByteArray(R"({"prompt": [1], "context": 0})") << QByteArray("context");
        QTest::newRow("over the context") << QByteArray(R"({"prompt": [1, 2, 3, 4], "context": 2})") << QByteArray("4");
        QTest::newRow("deep") << QByteArray(100'000, '[') << QByteArray("JSON");
    }
    void badTokenFilesAreOneSentence() {
        QFETCH(QByteArray, tokens);
        QFETCH(QByteArray, named);
        const auto result = evaluate(tokens);
        QCOMPARE(result.exitCode, 2);
        QVERIFY2(result.isOneSentence(), result.told());
        QVERIFY2(result.err.contains(named), result.told());
    }

    void missingTokenFilesAreOneSentence() {
        for (const QString& file : {QString("absent"), QString("."), QString("")}) {
            const auto result = m_bench.run({"evaluate", "--model", fixturePath("llama.gguf"), "--tokens", file});
            QCOMPARE(result.exitCode, 2);
            QVERIFY2(result.isOneSentence(), result.told());
        }
    }

    void textShowsTheLikeliest() {
        const auto result = m_bench.run({"evaluate", "--model", fixturePath("llama.gguf"), "--tokens",
                                         m_bench.file("t.json", "[1, 5, 9]"), "--greedy", "2"});
        QCOMPARE(result.exitCode, 0);
        QCOMPARE(result.out.count('\n'), 12);
        QVERIFY(result.err.isEmpty());
    }
};

FIRSTTOKEN_TEST_CLASS(TestCliEvaluate);
#include "test_cli_evaluate.moc"
