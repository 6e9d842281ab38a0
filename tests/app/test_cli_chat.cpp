#include <signal.h>

#include <QProcess>

#include "tests/app/cli_run.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::tests;

namespace {

QList<QJsonObject> objects(const QByteArray& lines) {
    QList<QJsonObject> list;
    for (const auto& line : lines.split('\n')) {
        if (!line.isEmpty()) list << QJsonDocument::fromJson(line).object();
    }
    return list;
}

}  // namespace

class TestCliChat : public QObject {
    Q_OBJECT

    CliBench m_bench;

    QStringList chat(const QStringList& more = {}) {
        return QStringList{"chat",          "--json", "--model",      fixturePath("llama.gguf"),
                           "--temperature", "0",      "--max-tokens", "8"} +
               more;
    }

private slots:
    void oneTurnHasItsFields() {
        const auto result = m_bench.run(chat({"--prompt", "Hello"}));
        QVERIFY2(result.exitCode == 0, result.told());
        QVERIFY(result.err.isEmpty());
        QCOMPARE(result.out.count('\n'), 1);
        const auto object = result.object();
        for (const auto* key : {"text", "finish_reason", "prompt_tokens", "cached_tokens", "output_tokens", "ttft_ms",
                                "tpot_ms", "session"}) {
            QVERIFY2(object.contains(key), key);
        }
        QCOMPARE(object["output_tokens"].toInt(), 8);
        QCOMPARE(object["finish_reason"].toString(), QString("length"));
        QVERIFY(object["ttft_ms"].toDouble() > 0);
        QVERIFY(object["tpot_ms"].toDouble() >= 0);
        QVERIFY(object["prompt_tokens"].toInt() > 0);
    }

    void oneTokenHasNoTpot() {
        auto arguments = chat({"--prompt", "Hello"});
        arguments[arguments.indexOf("8")] = "1";
        const auto object = m_bench.run(arguments).object();
        QCOMPARE(object["output_tokens"].toInt(), 1);
        QVERIFY(object["tpot_ms"].isNull());
    }

    void theSameSeedGivesTheSameText() {
        const auto text = [&](const char* seed) {
            return m_bench
                .run({"chat", "--json", "--model", fixturePath("llama.gguf"), "--max-tokens", "16", "--temperature",
                      "1", "--seed", seed, "--prompt", "Hello"})
                .object()["text"]
                .toString();
        };
        QCOMPARE(text("5"), text("5"));
        QVERIFY(text("5") != text("6"));
    }

    void plainTextIsOnlyTheAnswer() {
        auto arguments = chat({"--prompt", "Hello"});
        const auto object = m_bench.run(arguments).object();
        arguments.removeAll("--json");
        const auto result = m_bench.run(arguments);
        QCOMPARE(result.exitCode, 0);
        QVERIFY(result.err.isEmpty());
        auto text = object["text"].toString();
        if (!text.endsWith('\n')) text += '\n';
        QCOMPARE(QString::fromUtf8(result.out), text);
    }

    void everyLineIsATurn() {
        const auto result = m_bench.run(chat(), "one\n\ntwo\r\nthree");
        QVERIFY2(result.exitCode == 0, result.told());
        const auto turns = objects(result.out);
        QCOMPARE(turns.size(), 3);
        QVERIFY(turns[1]["prompt_tokens"].toInt() > turns[0]["prompt_tokens"].toInt());
        QVERIFY(turns[2]["prompt_tokens"].toInt() > turns[1]["prompt_tokens"].toInt());
        QVERIFY(result.err.isEmpty());
    }

    void aNewChatReusesThePrefix() {
        const QByteArray turn(200, 'a');
        const auto turns = objects(m_bench.run(chat(), turn + "\n/new\n" + turn + "\n").out);
        QCOMPARE(turns.size(), 2);
        QCOMPARE(turns[0]["cached_tokens"].toInt(), 0);
        QVERIFY(turns[1]["cached_tokens"].toInt() > 0);
        QCOMPARE(turns[1]["text"], turns[0]["text"]);
        QCOMPARE(turns[1]["prompt_tokens"], turns[0]["prompt_tokens"]);
    }

    void withoutThePrefixCacheNothingIsCached() {
        const auto profile = m_bench.file("off.yaml", "cache: {prefix_cache: false}\n");
        const QByteArray turn(200, 'a');
        const auto turns = objects(m_bench.run(chat({"--profile", profile}), turn + "\n/new\n" + turn + "\n").out);
        QCOMPARE(turns.size(), 2);
        QCOMPARE(turns[1]["cached_tokens"].toInt(), 0);
        QCOMPARE(turns[1]["text"], turns[0]["text"]);
    }

    void commandsWorkInAPipe() {
        const auto turns = objects(
            m_bench.run(chat(), "Hello\n/set max_tokens 3\n/regenerate\n/system be brief\n/new\nHello\n/quit\nnever\n")
                .out);
        QCOMPARE(turns.size(), 3);
        QCOMPARE(turns[0]["output_tokens"].toInt(), 8);
        QCOMPARE(turns[1]["output_tokens"].toInt(), 3);
        QCOMPARE(turns[1]["prompt_tokens"], turns[0]["prompt_tokens"]);
        QVERIFY(turns[2]["prompt_tokens"].toInt() > turns[1]["prompt_tokens"].toInt());
    }

    void aBadSettingFailsAndTheChatGoesOn() {
        const auto result = m_bench.run(chat(), "/set temperature hot\n/set nonsense 1\n/etc is a folder\n");
        QCOMPARE(result.exitCode, 2);
        QCOMPARE(objects(result.out).size(), 1);
        QCOMPARE(result.err.count('\n'), 2);
    }

    void overTheContextIsRejectedWithTheNumbers() {
        const auto profile = m_bench.file("small.yaml", "model: {max_context_tokens: 64}\n");
        const QByteArray text(500, 'a');
        const auto once = m_bench.run(chat({"--profile", profile, "--prompt", QString(text)}));
        QCOMPARE(once.exitCode, 2);
        QVERIFY2(once.isOneSentence(), once.told());
        QVERIFY2(once.err.contains("63") || once.err.contains("64"), once.told());
        const auto lines = m_bench.run(chat({"--profile", profile}), text + "\nHi\n");
        QCOMPARE(lines.exitCode, 2);
        const auto turns = objects(lines.out);
        QCOMPARE(turns.size(), 2);
        QCOMPARE(turns[0]["finish_reason"].toString(), QString("rejected"));
        QVERIFY(!turns[0]["error"].toString().isEmpty());
        QCOMPARE(turns[1]["finish_reason"].toString(), QString("length"));
    }

    void droppingOldTurnsKeepsTheChatAlive() {
        const auto profile = m_bench.file("drop.yaml", "model: {max_context_tokens: 128, trim: drop_oldest}\n");
        QByteArray input;
        for (int i = 0; i < 20; ++i) input += "turn number " + QByteArray::number(i) + "\n";
        const auto result = m_bench.run(chat({"--profile", profile}), input);
        QVERIFY2(result.exitCode == 0, result.told());
        const auto turns = objects(result.out);
        QCOMPARE(turns.size(), 20);
        QVERIFY(turns.last()["dropped_messages"].toInt() > 0);
        for (const auto& turn : turns) {
            QVERIFY(turn["output_tokens"].toInt() == 8 || turn["finish_reason"].toString() == "stop");
            QVERIFY(turn["prompt_tokens"].toInt() <= 120);
        }
    }

    void aTemplateOfTheUsersIsTaken() {
        const auto own = m_bench.file("own.jinja", "{{ messages[-1].content }}");
        const auto result = m_bench.run(chat({"--template", own, "--prompt", "abc"}));
        QVERIFY2(result.exitCode == 0, result.told());
        const auto plain = m_bench.run(chat({"--prompt", "abc"}));
        QVERIFY(result.object()["prompt_tokens"].toInt() < plain.object()["prompt_tokens"].toInt());
        const auto broken = m_bench.file("broken.jinja", "{% for %}");
        const auto failed = m_bench.run(chat({"--template", broken, "--prompt", "abc"}));
        QCOMPARE(failed.exitCode, 2);
        QVERIFY2(failed.isOneSentence(), failed.told());
    }

    void anInterruptCancelsWithItsObject() {
        const auto model = m_bench.path("slow.gguf");
        QCOMPARE(m_bench.run({"make-model", "--shape", "tiny", "--format", "F16", model}).exitCode, 0);
        QProcess process;
        process.setProcessEnvironment(m_bench.variables());
        process.start(FIRSTTOKEN_CLI, {"chat", "--model", model, "--prompt", "Hello", "--max-tokens", "1000000"});
        QVERIFY(process.waitForReadyRead());  // an answer has begun
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished());
        if (process.exitCode() == 0) QSKIP("the answer ended before the interrupt came");
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 130);
        QVERIFY(process.readAllStandardError().isEmpty());
    }

    void aClosedPipeEndsTheProgram() {
        QProcess process;
        process.setProcessEnvironment(m_bench.variables());
        process.start("sh",
                      {"-c", QString("'%1' chat --model '%2' --prompt x --max-tokens 100000 --json | true; echo ended")
                                 .arg(FIRSTTOKEN_CLI, fixturePath("llama.gguf"))});
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.readAllStandardOutput(), QByteArray("ended\n"));
        QVERIFY(process.readAllStandardError().isEmpty());
    }
};

FIRSTTOKEN_TEST_CLASS(TestCliChat);
#include "test_cli_chat.moc"
