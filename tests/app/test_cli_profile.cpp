#include "tests/app/cli_run.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::tests;

class TestCliProfile : public QObject {
    Q_OBJECT

    CliBench m_bench;

private slots:
    void theBuiltInOnesAreListed() {
        const auto result = m_bench.run({"profile", "list", "--json"});
        QCOMPARE(result.exitCode, 0);
        QStringList names;
        for (const auto& value : result.array()) {
            const auto entry = value.toObject();
            names << entry["name"].toString();
            QVERIFY(entry["errors"].toArray().isEmpty());
            QVERIFY(entry["requested"].isObject() && entry["effective"].isObject());
        }
        QVERIFY(names.contains("default") && names.contains("production"));
    }

    void oneIsShown() {
        const auto result = m_bench.run({"profile", "show", "production", "--json"});
        QCOMPARE(result.exitCode, 0);
        const auto requested = result.object()["requested"].toObject();
        QCOMPARE(requested["model"].toObject()["precision"].toString(), QString("fp8"));
        QCOMPARE(requested["scheduler"].toObject()["max_concurrent_sequences"].toInt(), 128);
        QVERIFY(result.object()["errors"].toArray().isEmpty());
        bool changed = false;
        for (const auto& change : result.object()["changes"].toArray()) {
            const auto entry = change.toObject();
            changed =
                changed || (entry["key"].toString() == "model.precision" && !entry["reason"].toString().isEmpty());
        }
        QVERIFY(changed);
        const auto yaml = m_bench.run({"profile", "show", "production"});
        QVERIFY(yaml.err.isEmpty());
        const auto again = m_bench.run({"profile", "check", m_bench.file("copy.yaml", yaml.out), "--json"});
        QCOMPARE(again.exitCode, 0);
        QCOMPARE(again.object()["requested"].toObject(), requested);
    }

    void aModelsFactsCount() {
        const auto file = m_bench.file("long.yaml", "model: {max_context_tokens: 100000000}\n");
        const auto result = m_bench.run({"profile", "check", file, "--model", fixturePath("llama.gguf"), "--json"});
        QCOMPARE(result.exitCode, 0);
        QVERIFY(result.object()["effective"].toObject()["model"].toObject()["max_context_tokens"].toInteger() <
                100'000'000);
        QVERIFY(!result.object()["changes"].toArray().isEmpty());
    }

    void faultsHaveLineAndColumn() {
        const auto file = m_bench.file("bad.yaml", "model:\n  precison: fp8\nscheduler:\n  max_batch_tokens: many\n");
        const auto result = m_bench.run({"profile", "check", file, "--json"});
        QCOMPARE(result.exitCode, 2);
        const auto errors = result.object()["errors"].toArray();
        QCOMPARE(errors.size(), 2);
        QCOMPARE(errors[0].toObject()["line"].toInt(), 2);
        QCOMPARE(errors[0].toObject()["column"].toInt(), 3);
        QVERIFY(errors[0].toObject()["message"].toString().contains("precison"));
        QCOMPARE(errors[1].toObject()["line"].toInt(), 4);
        QVERIFY(result.object()["requested"].isObject() && result.object()["effective"].isObject());
        const auto text = m_bench.run({"profile", "check", file});
        QCOMPARE(text.exitCode, 2);
        QVERIFY(text.out.contains("bad.yaml:2:3:") && text.out.contains("bad.yaml:4:"));
        QCOMPARE(text.err.count('\n'), 1);
        QVERIFY(text.err.contains("bad.yaml:2:3:"));
    }

    void aBadProfileStopsARunInOneSentence() {
        const auto file = m_bench.file("bad.yaml", "model:\n  precison: fp8\n");
        for (const QStringList& arguments :
             {QStringList{"chat", "--prompt", "x"}, QStringList{"evaluate", "--tokens", "x"}, QStringList{"bench"}}) {
            const auto result =
                m_bench.run(arguments + QStringList{"--model", fixturePath("llama.gguf"), "--profile", file});
            QCOMPARE(result.exitCode, 2);
            QVERIFY2(result.isOneSentence(), result.told());
            QVERIFY2(result.err.contains("bad.yaml:2:3"), result.told());
        }
    }

    void whatIsNoProfileIsOneSentence_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("show unknown") << QStringList{"show", "nonsense"};
        QTest::newRow("show directory") << QStringList{"show", "."};
        QTest::newRow("check missing") << QStringList{"check", "absent.yaml"};
        QTest::newRow("check directory") << QStringList{"check", "."};
        QTest::newRow("check empty name") << QStringList{"check", ""};
        QTest::newRow("check endless") << QStringList{"check", "/dev/zero"};
    }
    void whatIsNoProfileIsOneSentence() {
        QFETCH(QStringList, arguments);
        for (const bool json : {false, true}) {
            const auto result =
                m_bench.run(QStringList{"profile"} + arguments + (json ? QStringList{"--json"} : QStringList{}));
            QCOMPARE(result.exitCode, 2);
            QVERIFY2(result.isOneSentence(), result.told());
        }
    }

    void anEmptyProfileIsTheDefault() {
        const auto result = m_bench.run({"profile", "check", m_bench.file("empty.yaml", ""), "--json"});
        QCOMPARE(result.exitCode, 0);
        const auto shown = m_bench.run({"profile", "show", "default", "--json"});
        QCOMPARE(result.object()["requested"].toObject(), shown.object()["requested"].toObject());
    }
};

FIRSTTOKEN_TEST_CLASS(TestCliProfile);
#include "test_cli_profile.moc"
