#include <QDir>
#include <QFile>

#include "tests/app/cli_run.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::tests;

class TestCliModels : public QObject {
    Q_OBJECT

private slots:
    void anEmptyLibraryIsAnEmptyList() {
        const CliBench bench;
        const auto result = bench.run({"models", "--json"});
        QCOMPARE(result.exitCode, 0);
        QCOMPARE(result.out, QByteArray("[]\n"));
        QVERIFY(result.err.isEmpty());
        const auto text = bench.run({"models"});
        QVERIFY(text.out.contains("gemma-3-270m"));
        QVERIFY(bench.run({"models", "--json", "--catalogue"}).array().size() >= 3);
    }

    void modelsAreListedBrokenOnesToo() {
        CliBench bench;
        bench.addModel("llama.gguf", "good.gguf");
        bench.addModel("gemma3.gguf", "gemma-3-270m-q4_k_m.gguf");
        bench.file("models/broken.gguf", "GGUF");
        const auto result = bench.run({"models", "--json"});
        QCOMPARE(result.exitCode, 0);
        const auto list = result.array();
        QCOMPARE(list.size(), 3);
        const auto broken = list[0].toObject();
        QCOMPARE(broken["name"].toString(), QString("broken"));
        QVERIFY(broken["architecture"].isNull());
        QCOMPARE(broken["fits"].toBool(true), false);
        QVERIFY(!broken["error"].toString().isEmpty());
        const auto gemma = list[1].toObject();
        QCOMPARE(gemma["name"].toString(), QString("gemma-3-270m"));
        QCOMPARE(gemma["kind"].toString(), QString("base"));
        const auto good = list[2].toObject();
        QCOMPARE(good["path"].toString(), bench.models() + "/good.gguf");
        QCOMPARE(good["architecture"].toString(), QString("llama"));
        QCOMPARE(good["bytes"].toInteger(), QFile(fixturePath("llama.gguf")).size());
        QCOMPARE(good["fits"].toBool(), true);
        QVERIFY(bench.run({"models"}).out.contains("broken"));
    }

    void anotherFolderIsAdded() {
        CliBench bench;
        QDir(bench.path(".")).mkpath("more");
        QVERIFY(QFile::copy(fixturePath("qwen2.gguf"), bench.path("more/other.gguf")));
        const auto list = bench.run({"models", "--json", "--folder", bench.path("more")}).array();
        QCOMPARE(list.size(), 1);
        QCOMPARE(list[0].toObject()["name"].toString(), QString("other"));
    }

    void makeModelWritesAModelThatIsListed() {
        CliBench bench;
        QDir(bench.path(".")).mkpath("models");
        const auto out = bench.models() + "/made.gguf";
        const auto made =
            bench.run({"make-model", "--shape", "tiny", "--format", "Q4_0", "--seed", "3", out, "--json"});
        QVERIFY2(made.exitCode == 0, made.told());
        QVERIFY(made.err.isEmpty());
        QCOMPARE(made.object()["path"].toString(), out);
        QCOMPARE(made.object()["bytes"].toInteger(), QFile(out).size());
        QCOMPARE(bench.run({"models", "--json"}).array().size(), 1);
        const auto text = bench.run({"make-model", "--shape", "tiny", "--format", "q8_0", bench.path("two.gguf")});
        QCOMPARE(text.exitCode, 0);
        QVERIFY(text.err.contains("nonsense"));
    }

    void makeModelRefusesWithoutATrace_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("shape") << QStringList{"--shape", "huge", "--format", "Q4_0", "out.gguf"};
        QTest::newRow("format") << QStringList{"--shape", "tiny", "--format", "Q9", "out.gguf"};
        QTest::newRow("folder") << QStringList{"--shape", "tiny", "--format", "Q4_0", "absent/out.gguf"};
        QTest::newRow("directory") << QStringList{"--shape", "tiny", "--format", "Q4_0", "."};
        QTest::newRow("no name") << QStringList{"--shape", "tiny", "--format", "Q4_0", ""};
        QTest::newRow("vocabulary") << QStringList{"--shape",      "tiny",        "--format", "Q4_0",
                                                   "--vocabulary", "absent.gguf", "out.gguf"};
    }
    void makeModelRefusesWithoutATrace() {
        QFETCH(QStringList, arguments);
        const CliBench bench;
        const auto result = bench.run(QStringList{"make-model"} + arguments);
        QCOMPARE(result.exitCode, 2);
        QVERIFY2(result.isOneSentence(), result.told());
        QVERIFY(QDir(bench.path(".")).isEmpty());
    }

    void fetchWithoutPipFailsInOneSentenceAfterTheLicence() {
        CliBench bench;
        QDir(bench.path(".")).mkpath("bin");
        const auto python = bench.file("bin/python3", "#!/bin/sh\necho \"$0: No module named pip\" >&2\nexit 1\n");
        QFile::setPermissions(python, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        bench.environment = {"PATH=" + bench.path("bin") + ":" + qEnvironmentVariable("PATH")};
        const auto result = bench.run({"models", "fetch", "gemma-3-270m", "--json"});
        QCOMPARE(result.exitCode, 1);
        QVERIFY(result.out.isEmpty());
        const auto lines = result.err.split('\n');
        QVERIFY(lines[0].contains("https://ai.google.dev/gemma/terms"));
        QVERIFY(lines[1].startsWith("firsttoken-cli: ") && lines[1].contains("pip"));
        QVERIFY(!QFile::exists(bench.models() + "/gemma-3-270m-q4_k_m.gguf"));
        QFile consents(bench.models() + "/licences.json");
        QVERIFY(consents.open(QIODevice::ReadOnly));
        QVERIFY(consents.readAll().contains("Gemma Terms of Use"));
    }
};

FIRSTTOKEN_TEST_CLASS(TestCliModels);
#include "test_cli_models.moc"
