#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

#include "sessions/load/workload.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;

namespace {

engine::Error faultOf(std::string_view json) {
    const auto workload = parseWorkload(json);
    return workload ? engine::Error{engine::ErrorCode::Internal, "no fault was found"} : workload.error();
}

Workload unusual() {
    Workload workload;
    workload.arrivals = {ArrivalKind::Gamma, 3.25, 0.3, 5, ThinkKind::Exponential, 1.5, 2};
    workload.requests.reset();
    workload.durationS = 12.5;
    workload.promptTokens = {LengthKind::LogNormal, 300, 150, 20, 900};
    workload.outputTokens = {LengthKind::Normal, 50, 10, 5, 80};
    workload.sharedPrefix = {0.9, 4, 100};
    workload.hangUpShare = 0.05;
    workload.warmup.seconds = 2.5;
    workload.seed = UINT64_MAX;
    return workload;
}

}  // namespace

class TestWorkload : public QObject {
    Q_OBJECT
private slots:
    void jsonGivesTheSameValueBack() {
        for (const Workload& workload : {Workload(), unusual()}) {
            const auto again = parseWorkload(toJson(workload));
            QVERIFY2(again.ok(), again ? "" : again.error().message.c_str());
            QVERIFY(*again == workload);
            const auto indented = parseWorkload(toJson(workload, 2), "name");
            QVERIFY(indented.ok());
            QCOMPARE(indented->name, std::string("name"));
        }
    }
    void whatIsLeftOutIsTheDefault() {
        const auto empty = parseWorkload("{}");
        QVERIFY(empty.ok());
        QVERIFY(*empty == Workload());
        const auto shorter = parseWorkload(R"({"prompt_tokens": 40, "duration_s": 3})");
        QVERIFY(shorter.ok());
        QCOMPARE(shorter->promptTokens.mean, 40.0);
        QVERIFY(!shorter->requests);
        QVERIFY(!parseWorkload(R"({"requests": null})").ok());
    }
    void faultsAreNamedAndPlaced_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QByteArray>("message");
        QTest::addColumn<int>("line");
        QTest::addColumn<int>("column");
        const auto row = [](const char* name, const char* json, const char* message, int line, int column) {
            QTest::newRow(name) << QByteArray(json) << QByteArray(message) << line << column;
        };
        row("unknown key", "{\n  \"requests\": 4,\n  \"request\": 5}", "unknown key \"request\"", 3, 3);
        row("unknown inner key", "{\"arrivals\": {\n \"rate\": 5}}", "unknown key \"arrivals.rate\"", 2, 2);
        row("duplicate key", "{\"seed\": 1,\n \"seed\": 2}", "\"seed\" is given twice", 2, 2);
        row("wrong type", "{\n\"seed\": \"one\"}", "seed must be a whole number", 2, 1);
        row("negative count", "{\"requests\": -1}", "requests must be a whole number", 1, 2);
        row("fraction", "{\"requests\": 1.5}", "requests must be a whole number", 1, 2);
        row("choice", "{\"arrivals\": {\"kind\": \"posson\"}}",
            "arrivals.kind must be one of constant, poisson, gamma, closed", 1, 15);
        row("not an object", "[]", "the workload must be an object", 1, 1);
        row("inner not an object", "{\"arrivals\": 3}", "arrivals must be an object", 1, 2);
        row("range", "{\"hang_up_share\":\n 1.5}", "hang_up_share must be from 0 to 1, not 1.5", 1, 2);
        row("inner range", "{\"arrivals\": {\n\n  \"rate_per_s\": 0}}", "arrivals.rate_per_s must be above 0", 3, 3);
        row("range of a short length", "{\"seed\": 1,\n\"prompt_tokens\": 0}", "prompt_tokens.mean must be from 1", 2,
            1);
        row("min over max", "{\"output_tokens\": {\"kind\": \"normal\", \"min\": 9, \"max\": 4}}", "output_tokens.min",
            1, 38);
        row("warm-up", "{\"requests\": 5, \"warm_up\": {\"requests\": 5}}", "warm_up.requests (5) leaves none", 1, 29);
        row("both warm-ups", "{\"warm_up\": {\"requests\": 5, \"seconds\": 1}}", "not both", 1, 2);
        row("no end", "{\"requests\": null}", "requests or duration_s must be given", 1, 2);
        row("syntax", "{\"seed\": 1,\n}", "syntax error", 2, 1);
        row("nothing", "", "syntax error", 1, 1);
        row("huge number", "{\"hang_up_share\": 1e999}", "number overflow", 1, 23);
    }
    void faultsAreNamedAndPlaced() {
        QFETCH(QByteArray, json);
        QFETCH(QByteArray, message);
        QFETCH(int, line);
        QFETCH(int, column);
        const engine::Error fault = faultOf({json.constData(), static_cast<std::size_t>(json.size())});
        QVERIFY2(QByteArray::fromStdString(fault.message).contains(message), fault.message.c_str());
        QCOMPARE(fault.code, engine::ErrorCode::BadInput);
        QCOMPARE(fault.line, line);
        QCOMPARE(fault.column, column);
    }
    void hostileTextIsRefused() {
        QVERIFY(faultOf(std::string(100'000, '[')).message.find("nested deeper") != std::string::npos);
        QVERIFY(faultOf(std::string(2'000'000, ' ')).message.find("1 MiB") != std::string::npos);
        QCOMPARE(faultOf("{\"\xff\": 1}").code, engine::ErrorCode::BadInput);
        QCOMPARE(faultOf(std::string_view("{\"seed\": 1}\0x", 13)).code, engine::ErrorCode::BadInput);
        const std::string valid = toJson(unusual(), 1);
        for (std::size_t i = 0; i < valid.size(); ++i) {
            QVERIFY(!parseWorkload(valid.substr(0, i)).ok());
            std::string changed = valid;
            changed[i] = static_cast<char>(changed[i] ^ 0x15);
            const auto workload = parseWorkload(changed);
            if (workload) QVERIFY(checkWorkload(*workload).ok());
        }
    }
    void theSentenceSaysWhatWillHappen() {
        Workload workload;
        workload.sharedPrefix = {0.9, 4, 96};
        QCOMPARE(
            describeWorkload(workload),
            std::string("64 requests, Poisson at 2.0/s, about 32 s; prompts of 128 tokens, answers of 64; 90 % share "
                        "one of 4 prefixes of 96 tokens"));
        workload = unusual();
        QCOMPARE(
            describeWorkload(workload),
            std::string("gamma gaps of shape 0.3 at 3.2/s, for 12 s; prompts of 300 ± 150 (log-normal, 20 to 900) "
                        "tokens, answers of 50 ± 10 (normal, 5 to 80); 90 % share one of 4 prefixes of 100 tokens; "
                        "5 % hang up; the first 2.5 s warm up"));
        workload = Workload();
        workload.arrivals.kind = ArrivalKind::Closed;
        workload.arrivals.thinkS = 1.5;
        workload.warmup.requests = 1;
        QCOMPARE(
            describeWorkload(workload),
            std::string("64 requests, 8 clients that wait for their answers and pause 1.5 s; prompts of 128 tokens, "
                        "answers of 64; the first 1 request warm up"));
    }
    void builtInsAreContentAndDescribed() {
        QVERIFY(builtInWorkloads().size() >= 5);
        for (const BuiltInWorkload& builtIn : builtInWorkloads()) {
            const auto workload = loadWorkload(std::string(builtIn.name));
            QVERIFY2(workload.ok(), workload ? "" : workload.error().message.c_str());
            QCOMPARE(workload->name, std::string(builtIn.name));
            QVERIFY(!describeWorkload(*workload).empty());
        }
    }
    void filesAreReadAndTheirFaultsNameThem() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("evening.json")).toStdString();
        std::ofstream(path) << R"({"requests": 7})";
        const auto workload = loadWorkload(path);
        QVERIFY(workload.ok());
        QCOMPARE(workload->name, std::string("evening"));
        QCOMPARE(*workload->requests, std::int64_t{7});
        std::ofstream(path) << "{\n\"no\": 1}";
        const auto wrong = loadWorkload(path);
        QVERIFY(!wrong.ok());
        QVERIFY(wrong.error().message.find("evening.json:2:1: ") != std::string::npos);
        QCOMPARE(loadWorkload(folder.path().toStdString()).error().code, engine::ErrorCode::Io);
        QCOMPARE(loadWorkload(path + "x").error().code, engine::ErrorCode::NotFound);
    }
    void lengthsAreFittedToAContext() {
        Workload workload;
        QVERIFY(fittedTo(workload, 192) == workload);
        for (const std::int64_t context : {2, 3, 64, 100, 191}) {
            const Workload fitted = fittedTo(workload, context);
            QVERIFY(checkWorkload(fitted).ok());
            QVERIFY(fitted.promptTokens.mean + fitted.outputTokens.mean <= static_cast<double>(context));
        }
        workload.promptTokens = {LengthKind::Normal, 300, 10, 250, 400};
        const Workload fitted = fittedTo(workload, 128);
        QVERIFY2(checkWorkload(fitted).ok(), toJson(fitted).c_str());
        QVERIFY(fitted.promptTokens.max + static_cast<std::int64_t>(fitted.outputTokens.mean) <= 128);
    }
};

FIRSTTOKEN_TEST_CLASS(TestWorkload);
#include "test_workload.moc"
