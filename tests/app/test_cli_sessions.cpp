#include <QFile>

#include "tests/app/cli_run.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::tests;

/// load, sessions, compare and report, and chats that are kept: one database from beginning to end.
class TestCliSessions : public QObject {
    Q_OBJECT

    CliBench m_bench;

    CliResult run(const QStringList& arguments) {
        return m_bench.run(arguments + QStringList{"--db", m_bench.path("sessions.sqlite")});
    }
    CliResult load(const QStringList& more = {}) {
        return run(QStringList{"load", "--json", "--model", fixturePath("llama.gguf"), "--requests", "24", "--rate",
                               "400", "--prompt-tokens", "40", "--output-tokens", "6", "--seed", "5"} +
                   more);
    }

private slots:
    void aLoadSessionHasItsFields() {
        const auto result = load({"--shared-prefix", "0.5"});
        QVERIFY2(result.exitCode == 0, result.told());
        QVERIFY2(result.err.isEmpty(), result.told());
        const auto object = result.object();
        QCOMPARE(object["session"].toInt(), 1);
        QCOMPARE(object["requests"].toInt(), 24);
        QCOMPARE(object["completed"].toInt(), 24);
        QCOMPARE(object["failed"].toInt(), 0);
        QCOMPARE(object["cancelled"].toInt(), 0);
        QVERIFY(object["duration_s"].toDouble() > 0);
        for (const char* name : {"ttft_ms", "itl_ms", "e2e_ms"}) {
            const auto latency = object[name].toObject();
            QVERIFY2(latency["p50"].toDouble() > 0, name);
            QVERIFY2(latency["p50"].toDouble() <= latency["p95"].toDouble(), name);
            QVERIFY2(latency["p95"].toDouble() <= latency["p99"].toDouble(), name);
        }
        QVERIFY(object["output_tokens_per_s"].toDouble() > 0);
        QVERIFY(object["kv_blocks"].toObject()["total"].toInt() > 0);
        QVERIFY(object["kv_blocks"].toObject()["peak_referenced"].isDouble());
        QVERIFY(object["prefix_hit_fraction"].toDouble() > 0);
        QVERIFY(object["goodput_per_s"].isDouble() && object["goodput_fraction"].isDouble());
    }

    void theSameSeedSendsTheSame() {
        const auto second = load({"--shared-prefix", "0.5"});
        QVERIFY2(second.exitCode == 0, second.told());
        QJsonArray requests[2];
        for (const int id : {1, 2}) {
            const auto exported = run({"sessions", "export", QString::number(id), "--format", "json"});
            QVERIFY2(exported.exitCode == 0, exported.told());
            requests[id - 1] = exported.object()["requests"].toArray();
        }
        QCOMPARE(requests[0].size(), 24);
        for (qsizetype i = 0; i < 24; ++i) {
            const auto a = requests[0][i].toObject(), b = requests[1][i].toObject();
            QCOMPARE(a["planned_ns"], b["planned_ns"]);
            QCOMPARE(a["prompt"], b["prompt"]);
            QCOMPARE(a["prompt_tokens"].toInt(), 40);
            QCOMPARE(a["output_tokens"].toInt(), 6);
        }
    }

    void aChatIsKept() {
        const auto chat = run({"chat", "--json", "--model", fixturePath("llama.gguf"), "--prompt", "hello there",
                               "--max-tokens", "4", "--temperature", "0"});
        QVERIFY2(chat.exitCode == 0, chat.told());
        QCOMPARE(chat.object()["session"].toInt(), 3);
        const auto exported = run({"sessions", "export", "3", "--format", "json"}).object();
        QCOMPARE(exported["requests"].toArray().size(), 1);
        const auto request = exported["requests"].toArray()[0].toObject();
        QCOMPARE(request["prompt"].toString(), QString("hello there"));
        QCOMPARE(request["output"], chat.object()["text"]);
    }

    void listAndShow() {
        const auto list = run({"sessions", "list", "--json"}).array();
        QCOMPARE(list.size(), 3);
        const auto newest = list[0].toObject();
        QCOMPARE(newest["id"].toInt(), 3);
        QCOMPARE(newest["kind"].toString(), QString("chat"));
        QCOMPARE(list[2].toObject()["kind"].toString(), QString("load"));
        QCOMPARE(list[2].toObject()["state"].toString(), QString("completed"));
        QCOMPARE(list[2].toObject()["requests"].toInt(), 24);
        QVERIFY(list[2].toObject()["started_at"].toDouble() > 1.7e9);
        QCOMPARE(run({"sessions", "list", "--json", "--search", "hello"}).array().size(), 1);
        QCOMPARE(run({"sessions", "show", "1", "--json"}).object()["completed"].toInt(), 24);
        const auto missing = run({"sessions", "show", "99"});
        QCOMPARE(missing.exitCode, 2);
        QVERIFY(missing.isOneSentence());
    }

    void compareTwoEqualRuns() {
        const auto result = run({"compare", "1", "--with", "2", "--json"});
        QVERIFY2(result.exitCode == 0, result.told());
        const auto object = result.object();
        QCOMPARE(object["verdict"].toString(), QString("undecided"));
        QVERIFY(object["unlike"].toArray().isEmpty());
        QVERIFY(object["profile_diff"].isArray());
        QStringList names;
        for (const auto& metric : object["metrics"].toArray()) {
            const auto fields = metric.toObject();
            names << fields["name"].toString();
            QVERIFY(fields.contains("a") && fields.contains("b") && fields.contains("difference"));
            QVERIFY(fields.contains("interval") && fields.contains("verdict"));
        }
        for (const char* name :
             {"ttft_p50", "ttft_p95", "ttft_p99", "itl_p95", "tpot_p95", "e2e_p95", "queue_p95", "output_tokens_per_s",
              "goodput_per_s", "goodput_fraction", "prefix_hit_fraction", "kv_peak_fraction", "device_use"}) {
            QVERIFY2(names.contains(name), name);
        }
    }

    void unlikeRunsAreRefusedWithTheirValues() {
        QVERIFY(load({"--clients", "3"}).exitCode == 2);  // with --rate
        const auto other = run({"load", "--json", "--model", fixturePath("llama.gguf"), "--requests", "10", "--clients",
                                "3", "--prompt-tokens", "20", "--output-tokens", "3"});
        QVERIFY2(other.exitCode == 0, other.told());
        const auto result = run({"compare", "1", "--with", "4", "--json"});
        QCOMPARE(result.exitCode, 0);
        QCOMPARE(result.object()["verdict"].toString(), QString("refused"));
        QVERIFY(!result.object()["unlike"].toArray().isEmpty());
        for (const auto& metric : result.object()["metrics"].toArray()) {
            QCOMPARE(metric.toObject()["verdict"].toString(), QString("refused"));
        }
        QVERIFY(result.object()["metrics"].toArray()[0].toObject()["a"].isDouble());
    }

    void exportImportAndDelete() {
        const auto text = run({"sessions", "export", "1", "--format", "json"}).out;
        const auto imported = run({"sessions", "import", m_bench.file("one.json", text), "--json"});
        QVERIFY2(imported.exitCode == 0, imported.told());
        const int id = imported.object()["session"].toInt();
        QVERIFY(id > 4);
        const auto csv = run({"sessions", "export", QString::number(id), "--format", "csv"}).out;
        QCOMPARE(csv.count("\r\n"), 25);
        QVERIFY(!run({"sessions", "export", "1", "--format", "csv", "--table", "samples"}).out.isEmpty());
        QCOMPARE(run({"sessions", "delete", QString::number(id), "--json"}).exitCode, 0);
        QCOMPARE(run({"sessions", "delete", QString::number(id)}).exitCode, 2);
        const auto broken = run({"sessions", "import", m_bench.file("broken.json", "{\"format\": 3}")});
        QCOMPARE(broken.exitCode, 2);
        QVERIFY(broken.isOneSentence());
    }

    void aReportIsOneFile() {
        const auto path = m_bench.path("report.html");
        const auto result = run({"report", "1", "2", "--output", path});
        QVERIFY2(result.exitCode == 0, result.told());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto html = file.readAll();
        QVERIFY(html.contains("<svg") && html.contains("TTFT"));
        QVERIFY(!html.contains("<script") && !html.contains("src=\"http"));
        QCOMPARE(run({"report", "99", "--output", path}).exitCode, 2);
        QVERIFY(run({"report", "1", "--output", m_bench.path("no/such/folder/r.html")}).exitCode != 0);
    }

    void aDatabaseThatCannotBeIsOneSentence() {
        const auto garbage = m_bench.file("garbage.sqlite", QByteArray(5000, 'x'));
        const auto list = m_bench.run({"sessions", "list", "--db", garbage});
        QVERIFY(list.exitCode != 0);
        QVERIFY(list.told() != nullptr && !list.err.isEmpty() && list.out.isEmpty());
        const auto chat = m_bench.run({"chat", "--json", "--model", fixturePath("llama.gguf"), "--prompt", "a",
                                       "--max-tokens", "2", "--db", garbage});
        QCOMPARE(chat.exitCode, 0);  // the chat goes on, and says that it is not kept
        QVERIFY(chat.object()["session"].isNull());
        QVERIFY(chat.err.contains("not kept"));
        QFile kept(garbage);
        QVERIFY(kept.open(QIODevice::ReadOnly));
        QCOMPARE(kept.readAll(), QByteArray(5000, 'x'));
    }
};

FIRSTTOKEN_TEST_CLASS(TestCliSessions);
#include "test_cli_sessions.moc"
