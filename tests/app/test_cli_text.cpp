#include "tests/app/cli_run.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::tests;

/// tokenize and render.
class TestCliText : public QObject {
    Q_OBJECT

    CliBench m_bench;

    QJsonArray ids(const QStringList& arguments) {
        const auto result =
            m_bench.run(QStringList{"tokenize", "--json", "--model", fixturePath("llama.gguf")} + arguments);
        if (result.exitCode != 0) qWarning("%s", result.told());
        return result.object()["ids"].toArray();
    }

private slots:
    void aTextAndTheSameFileGiveTheSameIds() {
        const auto text = ids({"--text", "Hello world"});
        QVERIFY(text.size() > 1);
        QCOMPARE(ids({"--file", m_bench.file("t", "Hello world")}), text);
    }

    void specialTokensAreAddedUnlessRefused() {
        const auto with = ids({"--text", "Hello"});
        const auto without = ids({"--text", "Hello", "--no-special"});
        QCOMPARE(with.size(), without.size() + 1);
        QCOMPARE(with.last(), without.last());
        QCOMPARE(ids({"--text", "", "--no-special"}).size(), 0);
        QCOMPARE(ids({"--text", ""}).size(), 1);
    }

    void aTextMayBeginWithADash() {
        QVERIFY(!ids({"--text", "--no-special", "--no-special"}).isEmpty());
        QVERIFY(!ids({"--text", "-5"}).isEmpty());
        QCOMPARE(ids({"--text", "-x"}), ids({"--text=-x"}));
    }

    void bytesPassAsTheyAre() {
        const auto result = m_bench.run({"tokenize", "--json", "--model", fixturePath("llama.gguf"), "--file",
                                         m_bench.file("bytes", QByteArray("\xff\xfe\x00z", 4))});
        QCOMPARE(result.exitCode, 0);
        QVERIFY(!result.object()["ids"].toArray().isEmpty());
    }

    void missingFilesAreOneSentence() {
        for (const QString& file : {QString("absent"), QString("."), QString("")}) {
            const auto result = m_bench.run({"tokenize", "--model", fixturePath("llama.gguf"), "--file", file});
            QCOMPARE(result.exitCode, 2);
            QVERIFY2(result.isOneSentence(), result.told());
        }
    }

    void aTemplateIsRendered() {
        const auto given = m_bench.file("g.json", R"({"messages": [{"role": "user", "content": "Hi"}], "name": "N"})");
        const auto file = m_bench.file(
            "t.jinja",
            "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %} {{ strftime_now('%d.%m.%Y') }}");
        const auto result =
            m_bench.run({"render", "--template", file, "--given", given, "--now", "2026-11-29", "--json"});
        QVERIFY2(result.exitCode == 0, result.told());
        QCOMPARE(result.object()["text"].toString(), QString("[user]Hi 29.11.2026"));
        const auto text = m_bench.run({"render", "--template", file, "--given", given, "--now", "2026-11-29"});
        QCOMPARE(text.out, QByteArray("[user]Hi 29.11.2026"));
        const auto model = m_bench.run({"render", "--model", fixturePath("llama.gguf"), "--given", given, "--json"});
        QVERIFY2(model.exitCode == 0, model.told());
        QVERIFY(model.object()["text"].toString().contains("Hi"));
    }

    void templateErrorsAreOneSentence_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("given");
        const QByteArray messages = R"({"messages": []})";
        QTest::newRow("syntax") << QByteArray("{% for %}") << messages;
        QTest::newRow("unknown filter") << QByteArray("{{ 1 | nonsense }}") << messages;
        QTest::newRow("raised") << QByteArray("{{ raise_exception('roles must alternate') }}") << messages;
        QTest::newRow("given is no JSON") << QByteArray("x") << QByteArray("{");
        QTest::newRow("given is a list") << QByteArray("x") << QByteArray("[]");
        QTest::newRow("given is empty") << QByteArray("x") << QByteArray();
    }
    void templateErrorsAreOneSentence() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, given);
        const auto result =
            m_bench.run({"render", "--template", m_bench.file("t", text), "--given", m_bench.file("g", given)});
        QCOMPARE(result.exitCode, 2);
        QVERIFY2(result.isOneSentence(), result.told());
        if (text.contains("alternate")) QVERIFY(result.err.contains("roles must alternate"));
    }

    void missingRenderInputsAreOneSentence() {
        const auto t = m_bench.file("t", "x");
        const auto g = m_bench.file("g", "{}");
        for (const QStringList& arguments :
             {QStringList{"--template", "absent", "--given", g}, QStringList{"--template", t, "--given", "absent"},
              QStringList{"--template", ".", "--given", g}, QStringList{"--model", "absent.gguf", "--given", g}}) {
            const auto result = m_bench.run(QStringList{"render"} + arguments);
            QCOMPARE(result.exitCode, 2);
            QVERIFY2(result.isOneSentence(), result.told());
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestCliText);
#include "test_cli_text.moc"
