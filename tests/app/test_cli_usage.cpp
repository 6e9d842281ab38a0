#include <QFile>
#include <QProcess>

#include "tests/app/cli_run.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::tests;

namespace {

const QStringList leaves = {"chat",   "evaluate",     "tokenize",     "render",       "bench",        "make-model",
                            "models", "models fetch", "profile list", "profile show", "profile check"};

}  // namespace

class TestCliUsage : public QObject {
    Q_OBJECT

    CliBench m_bench;

private slots:
    void versionAndHelpAreAnswers() {
        const auto version = m_bench.run({"--version"});
        QCOMPARE(version.exitCode, 0);
        QVERIFY(version.out.startsWith("firsttoken-cli "));
        QCOMPARE(version.out.count('\n'), 1);
        const auto help = m_bench.run({"--help"});
        QCOMPARE(help.exitCode, 0);
        QVERIFY(help.err.isEmpty());
        for (const auto& leaf : leaves) QVERIFY2(help.out.contains(leaf.section(' ', 0, 0).toUtf8()), qPrintable(leaf));
    }

    void everyCommandHasHelpJsonAndDb() {
        for (const auto& leaf : leaves) {
            const auto help = m_bench.run(leaf.split(' ') + QStringList{"--help"});
            QCOMPARE(help.exitCode, 0);
            QVERIFY2(help.out.contains("--db FILE"), qPrintable(leaf));
            QVERIFY2(help.out.contains("--json"), qPrintable(leaf));
        }
    }

    void dbIsAcceptedBeforeAndAfterTheCommand() {
        QCOMPARE(m_bench.run({"--db", "x.db", "models", "--json"}).exitCode, 0);
        QCOMPARE(m_bench.run({"models", "--db", "x.db", "--json"}).exitCode, 0);
        QCOMPARE(m_bench.run({"profile", "--db", "x.db", "list", "--json"}).exitCode, 0);
        QCOMPARE(m_bench.run({"profile", "list", "--json", "--db", "x.db"}).exitCode, 0);
        QVERIFY(m_bench.run({"models", "--db"}).isOneSentence());
    }

    void wrongUsageIsOneSentence_data() {
        QTest::addColumn<QStringList>("arguments");
        const auto row = [](const QStringList& arguments) {
            QTest::addRow("%s", qPrintable(arguments.join(' '))) << arguments;
        };
        row({});
        row({"nonsense"});
        row({"chat", "--nonsense"});
        row({"chat", "extra"});
        row({"chat", "--prompt"});
        row({"profile"});
        row({"profile", "nonsense"});
        row({"profile", "show"});
        row({"tokenize"});
        row({"tokenize", "--text", "a", "--file", "b"});
        row({"tokenize", "--text", "a", "--text", "b"});
        row({"render", "--template", "x"});
        row({"render", "--template", "x", "--given", "y", "--now", "2026-13-01"});
        row({"render", "--template", "x", "--given", "y", "--now", "2026-02-30"});
        row({"render", "--template", "x", "--given", "y", "--now", "yesterday"});
        row({"evaluate"});
        row({"evaluate", "--tokens", "x", "--greedy", "-1"});
        row({"evaluate", "--tokens", "x", "--greedy", "1e3"});
        row({"chat", "--max-tokens", "0"});
        row({"chat", "--max-tokens", "-5"});
        row({"chat", "--max-tokens", "5x"});
        row({"chat", "--max-tokens", "99999999999999999999"});
        row({"chat", "--temperature", "-1"});
        row({"chat", "--temperature", "nan"});
        row({"chat", "--temperature", "inf"});
        row({"chat", "--temperature", ""});
        row({"chat", "--top-p", "-0.1"});
        row({"chat", "--top-p", "1.5"});
        row({"chat", "--seed", "-1"});
        row({"chat", "--seed", "0x10"});
        row({"bench", "--repeat", "0"});
        row({"bench", "--decode", "1"});
        row({"bench", "--threads", "0"});
        row({"bench", "--sequences", ""});
        row({"bench", "--sequences", "1,,2"});
        row({"bench", "--sequences", "1,x"});
        row({"bench", "--sequences", "0"});
        row({"make-model", "--shape", "tiny", "--format", "Q4_0"});
        row({"make-model", "--format", "Q4_0", "out.gguf"});
        row({"make-model", "--shape", "tiny", "--format", "Q4_0", "--seed", "-1", "out.gguf"});
        row({"models", "--folder", "absent"});
        row({"models", "fetch", "nonsense"});
        row({"models", "fetch", "a", "b"});
    }
    void wrongUsageIsOneSentence() {
        QFETCH(QStringList, arguments);
        for (const bool json : {false, true}) {
            const auto result = m_bench.run(json ? arguments + QStringList{"--json"} : arguments);
            QCOMPARE(result.exitCode, 2);
            QVERIFY2(result.isOneSentence(), result.told());
        }
    }

    void withoutAModelTheAdviceIsToFetchOne() {
        for (const QStringList& arguments :
             {QStringList{"chat", "--prompt", "x"}, QStringList{"tokenize", "--text", "x"}, QStringList{"bench"}}) {
            const auto result = m_bench.run(arguments);
            QCOMPARE(result.exitCode, 2);
            QVERIFY2(result.isOneSentence(), result.told());
            QVERIFY(result.err.contains("models fetch"));
        }
    }

    void foreignModelsAreOneSentence_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("garbage") << QByteArray(4096, 'g');
        QTest::newRow("only the magic") << QByteArray("GGUF");
        QFile whole(fixturePath("llama.gguf"));
        QVERIFY(whole.open(QIODevice::ReadOnly));
        QTest::newRow("truncated") << whole.read(60'000);
    }
    void foreignModelsAreOneSentence() {
        QFETCH(QByteArray, bytes);
        const auto model = m_bench.file("foreign.gguf", bytes);
        m_bench.file("tokens.json", "[1]");
        for (const QStringList& arguments :
             {QStringList{"chat", "--prompt", "x", "--model", model}, QStringList{"bench", "--model", model},
              QStringList{"evaluate", "--tokens", "tokens.json", "--model", model}}) {
            for (const bool json : {false, true}) {
                const auto result = m_bench.run(json ? arguments + QStringList{"--json"} : arguments);
                QCOMPARE(result.exitCode, 2);
                QVERIFY2(result.isOneSentence(), result.told());
            }
        }
    }

    void modelsThatAreNoFilesAreOneSentence() {
        for (const QString& model : {m_bench.path("absent.gguf"), m_bench.path("."), QString("/dev/null"), QString(""),
                                     QString("no-such-name"), QString("folder/absent")}) {
            const auto result = m_bench.run({"chat", "--prompt", "x", "--model", model});
            QCOMPARE(result.exitCode, 2);
            QVERIFY2(result.isOneSentence(), result.told());
        }
        const auto known = m_bench.run({"chat", "--prompt", "x", "--model", "gemma-3-270m"});
        QVERIFY(known.err.contains("models fetch gemma-3-270m"));
    }

    void lostOutputIsAFailure() {
        if (!QFile::exists("/dev/full")) QSKIP("there is no /dev/full");
        QProcess process;
        process.setProcessEnvironment(m_bench.variables());
        process.setStandardOutputFile("/dev/full");
        process.start(FIRSTTOKEN_CLI, {"profile", "list", "--json"});
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.exitCode(), 1);
        QVERIFY(process.readAllStandardError().contains("could not be written"));
    }
};

FIRSTTOKEN_TEST_CLASS(TestCliUsage);
#include "test_cli_usage.moc"
