#include "tests/app/cli_run.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::tests;

class TestCliBench : public QObject {
    Q_OBJECT

    CliBench m_bench;

    CliResult bench(const QStringList& more = {}) {
        return m_bench.run(QStringList{"bench", "--json", "--model", fixturePath("llama.gguf"), "--prefill", "24",
                                       "--decode", "6", "--sequences", "1,3", "--repeat", "2"} +
                           more);
    }

private slots:
    void everyRepeatIsGiven() {
        const auto result = bench();
        QVERIFY2(result.exitCode == 0, result.told());
        QVERIFY(result.err.isEmpty());
        const auto list = result.array();
        QCOMPARE(list.size(), 3);
        const QStringList names = {"prefill-24", "decode-6x1", "decode-6x3"};
        for (qsizetype i = 0; i < list.size(); ++i) {
            const auto entry = list[i].toObject();
            QCOMPARE(entry["test"].toString(), names[i]);
            const auto rates = entry["tokens_per_s"].toArray();
            QCOMPARE(rates.size(), 2);
            QCOMPARE(entry["median"].toDouble(), (rates[0].toDouble() + rates[1].toDouble()) / 2);
            QCOMPARE(entry["digest"].toString().size(), 16);
            QVERIFY(rates[0].toDouble() > 0);
        }
    }

    void equalWorkHasEqualDigests() {
        const auto digests = [](const CliResult& result) {
            QStringList list;
            for (const auto& entry : result.array()) list << entry.toObject()["digest"].toString();
            return list;
        };
        const auto first = digests(bench({"--threads", "1"}));
        QCOMPARE(first.size(), 3);
        QCOMPARE(digests(bench({"--threads", "2"})), first);
    }

    void theMachineIsMeasuredOnlyOnRequest() {
        const auto result = bench({"--limits"});
        QVERIFY2(result.exitCode == 0, result.told());
        QCOMPARE(result.array().size(), 6);
        const auto read = result.array()[3].toObject();
        QCOMPARE(read["test"].toString(), QString("read-rate"));
        QVERIFY(read["gb_per_s"].toDouble() > 0);
        QVERIFY(read.contains("digest") && read.contains("tokens_per_s") && read.contains("median"));
    }

    void overTheContextIsOneSentence() {
        const auto result = m_bench.run({"bench", "--model", fixturePath("llama.gguf"), "--prefill", "1000000"});
        QCOMPARE(result.exitCode, 2);
        QVERIFY2(result.isOneSentence(), result.told());
        QVERIFY(result.err.contains("1000001"));
    }

    void textIsATable() {
        auto result = m_bench.run({"bench", "--model", fixturePath("llama.gguf"), "--prefill", "0", "--decode", "4",
                                   "--sequences", "2", "--repeat", "1"});
        QVERIFY2(result.exitCode == 0, result.told());
        QCOMPARE(result.out.count('\n'), 1);
        QVERIFY(result.out.startsWith("decode-4x2"));
    }
};

FIRSTTOKEN_TEST_CLASS(TestCliBench);
#include "test_cli_bench.moc"
