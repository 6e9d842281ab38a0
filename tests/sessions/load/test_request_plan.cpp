#include <QtTest>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "sessions/load/request_plan.h"
#include "tests/sessions/load/word_text.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;

namespace {

constexpr std::int64_t roomy = 100'000;

RequestPlan planOf(const Workload& workload, const engine::Text& text = tests::WordText()) {
    auto plan = makeRequestPlan(workload, text, roomy);
    if (!plan) qFatal("%s", plan.error().message.c_str());
    return std::move(*plan);
}

/// Mean and coefficient of variation of the gaps between planned times, in seconds.
std::pair<double, double> gapsOf(const RequestPlan& plan) {
    double sum = 0, squares = 0, before = 0;
    for (const PlannedRequest& request : plan.requests) {
        const double at = static_cast<double>(request.plannedNs) / 1e9;
        sum += at - before;
        squares += (at - before) * (at - before);
        before = at;
    }
    const auto count = static_cast<double>(plan.requests.size());
    const double mean = sum / count;
    return {mean, std::sqrt(squares / count - mean * mean) / mean};
}

Workload varied() {
    Workload workload;
    workload.requests = 300;
    workload.promptTokens = {LengthKind::LogNormal, 40, 30, 1, 200};
    workload.outputTokens = {LengthKind::Normal, 20, 8, 1, 60};
    workload.sharedPrefix = {0.5, 3, 16};
    workload.hangUpShare = 0.25;
    return workload;
}

}  // namespace

class TestRequestPlan : public QObject {
    Q_OBJECT
private slots:
    void arrivalsHaveTheirMoments_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<double>("shape");
        QTest::addColumn<double>("variation");
        QTest::newRow("constant") << static_cast<int>(ArrivalKind::Constant) << 1.0 << 0.0;
        QTest::newRow("poisson") << static_cast<int>(ArrivalKind::Poisson) << 1.0 << 1.0;
        QTest::newRow("bursts") << static_cast<int>(ArrivalKind::Gamma) << 0.25 << 2.0;
        QTest::newRow("even") << static_cast<int>(ArrivalKind::Gamma) << 16.0 << 0.25;
    }
    void arrivalsHaveTheirMoments() {
        QFETCH(int, kind);
        QFETCH(double, shape);
        QFETCH(double, variation);
        Workload workload;
        workload.arrivals.kind = static_cast<ArrivalKind>(kind);
        workload.arrivals.shape = shape;
        workload.arrivals.ratePerS = 8;
        workload.requests = 20'000;
        workload.promptTokens.mean = workload.outputTokens.mean = 1;
        const auto [mean, measured] = gapsOf(planOf(workload));
        QVERIFY2(std::abs(mean * 8 - 1) < 0.04, qPrintable(QString::number(mean)));
        QVERIFY2(std::abs(measured - variation) < 0.05 * variation + 0.01, qPrintable(QString::number(measured)));
    }
    void constantArrivalsAreExact() {
        Workload workload;
        workload.arrivals.kind = ArrivalKind::Constant;
        workload.arrivals.ratePerS = 4;
        workload.durationS = 1;
        const RequestPlan plan = planOf(workload);
        QCOMPARE(plan.requests.size(), std::size_t{4});
        for (std::size_t i = 0; i < 4; ++i) {
            QCOMPARE(plan.requests[i].plannedNs, static_cast<engine::Nanoseconds>(i) * 250'000'000);
            QCOMPARE(plan.requests[i].number, static_cast<std::int64_t>(i) + 1);
        }
    }
    void theSameSeedIsTheSamePlan() {
        const tests::WordText text;
        const RequestPlan first = planOf(varied(), text);
        QVERIFY(first.requests == planOf(varied(), text).requests);
        Workload other = varied();
        other.seed = 2;
        QVERIFY(first.requests != planOf(other, text).requests);
    }
    void oneSettingChangesOnlyWhatItSays() {
        const tests::WordText text;
        const RequestPlan before = planOf(varied(), text);
        Workload faster = varied();
        faster.arrivals.ratePerS *= 2;
        faster.hangUpShare = 0;
        faster.outputTokens = {LengthKind::Fixed, 5, 0, 1, 10};
        const RequestPlan after = planOf(faster, text);
        for (std::size_t i = 0; i < before.requests.size(); ++i) {
            QCOMPARE(after.requests[i].prompt, before.requests[i].prompt);
            QCOMPARE(after.requests[i].prefixGroup, before.requests[i].prefixGroup);
            QCOMPARE(after.requests[i].samplingSeed, before.requests[i].samplingSeed);
            QVERIFY(std::abs(after.requests[i].plannedNs * 2 - before.requests[i].plannedNs) <= 2);
            QCOMPARE(after.requests[i].outputTokens, std::int64_t{5});
        }
        Workload longer = varied();
        longer.requests = 400;
        const RequestPlan more = planOf(longer, text);
        for (std::size_t i = 0; i < before.requests.size(); ++i) QVERIFY(more.requests[i] == before.requests[i]);
    }
    void lengthsHaveTheirMomentsWithinTheirRange() {
        Workload workload;
        workload.requests = 20'000;
        workload.arrivals.ratePerS = 1000;
        workload.promptTokens = {LengthKind::LogNormal, 40, 20, 1, 2000};
        workload.outputTokens = {LengthKind::Normal, 50, 20, 20, 80};
        double sum = 0, squares = 0, outputs = 0;
        for (const PlannedRequest& request : planOf(workload).requests) {
            const auto tokens = static_cast<double>(request.prompt.size());
            sum += tokens;
            squares += tokens * tokens;
            outputs += static_cast<double>(request.outputTokens);
            QVERIFY(request.outputTokens >= 20 && request.outputTokens <= 80);
        }
        const double mean = sum / 20'000;
        QVERIFY2(std::abs(mean - 40) < 1, qPrintable(QString::number(mean)));
        QVERIFY(std::abs(std::sqrt(squares / 20'000 - mean * mean) - 20) < 1);
        QVERIFY(std::abs(outputs / 20'000 - 50) < 0.5);
    }
    void sharesAndHangUpsAreAsAsked() {
        Workload workload = varied();
        workload.requests = 4000;
        workload.promptTokens = {LengthKind::Fixed, 40, 0, 1, 40};
        std::map<std::int64_t, std::set<std::vector<engine::TokenId>>> prefixes;
        std::set<std::vector<engine::TokenId>> prompts;
        int shared = 0, hangUps = 0;
        for (const PlannedRequest& request : planOf(workload).requests) {
            prompts.insert(request.prompt);
            QCOMPARE(request.prompt.size(), std::size_t{40});
            if (request.prefixGroup >= 0) {
                ++shared;
                prefixes[request.prefixGroup].insert({request.prompt.begin(), request.prompt.begin() + 16});
            }
            if (request.hangUpAfter == 0) continue;
            ++hangUps;
            QVERIFY(request.hangUpAfter >= 1);
            QVERIFY(request.hangUpAfter < request.outputTokens || request.outputTokens == 1);
        }
        QVERIFY(std::abs(shared - 2000) < 130);
        QVERIFY(std::abs(hangUps - 1000) < 120);
        QCOMPARE(prefixes.size(), std::size_t{3});
        for (const auto& [group, texts] : prefixes) QCOMPARE(texts.size(), std::size_t{1});
        QCOMPARE(prompts.size(), std::size_t{4000});  // nobody else shares by accident
    }
    void tokenCountsAreExactAndTextsAreTheirs_data() {
        QTest::addColumn<QString>("path");
        for (const char* name : {"llama.gguf", "qwen2.gguf", "gemma3.gguf"}) {
            QTest::newRow(name) << QString::fromStdString(tests::fixture(name));
        }
        const std::filesystem::path vocabularies = std::filesystem::path(tests::sharedFolder()) / "data" / "vocab";
        if (tests::sharedFolder().empty() || !std::filesystem::is_directory(vocabularies)) return;
        for (const auto& file : std::filesystem::directory_iterator(vocabularies)) {
            if (file.path().extension() != ".gguf") continue;
            QTest::newRow(file.path().filename().c_str()) << QString::fromStdString(file.path().string());
        }
    }
    void tokenCountsAreExactAndTextsAreTheirs() {
        QFETCH(QString, path);
        const auto opened = engine::openText(path.toStdString());
        if (!opened) QSKIP(qPrintable(QString::fromStdString(opened.error().message)));
        const engine::Text& text = **opened;
        Workload workload = varied();
        workload.requests = 200;
        workload.promptTokens = {LengthKind::LogNormal, 60, 60, 1, 500};
        const auto planner = RequestPlanner(workload, text);
        int faithful = 0;
        for (const PlannedRequest& request : planOf(workload, text).requests) {
            QCOMPARE(static_cast<std::int64_t>(request.prompt.size()), planner.lengths(request.number).first);
            faithful += text.tokenize(request.text) == request.prompt ? 1 : 0;
            if (request.prompt.size() >= 16 && request.prompt.size() < 20) {
                QVERIFY(request.text.find(' ') != std::string::npos);
            }
            if (text.addsBos()) QCOMPARE(request.prompt.front(), *text.bos());
        }
        // A word that was cut at a prompt's or prefix's end may be read in another way; whole words never are.
        QVERIFY2(faithful >= 150, qPrintable(QString::number(faithful)));
    }
    void everyLengthCanBeHad() {
        for (const char* name : {"llama.gguf", "qwen2.gguf", "gemma3.gguf"}) {
            const auto text = engine::openText(tests::fixture(name));
            QVERIFY(text.ok());
            for (int tokens = 1; tokens < 60; ++tokens) {
                Workload workload;
                workload.requests = 3;
                workload.promptTokens.mean = tokens;
                workload.sharedPrefix = {0.5, 1, 20};
                for (const PlannedRequest& request : planOf(workload, **text).requests) {
                    QCOMPARE(request.prompt.size(), static_cast<std::size_t>(tokens));
                }
            }
        }
    }
    void whatDoesNotFitIsRefusedWithNumbers() {
        const tests::WordText text;
        const auto plan = makeRequestPlan(Workload(), text, 191);
        QVERIFY(!plan.ok());
        QCOMPARE(plan.error().code, engine::ErrorCode::DoesNotFit);
        QCOMPARE(
            plan.error().message,
            std::string("request 1 has 128 prompt and 64 output tokens, 192 together; the context has room for 191"));
        QVERIFY(makeRequestPlan(Workload(), text, 192).ok());
        Workload huge;
        huge.requests = 1'000'000;
        huge.promptTokens.mean = 1000;
        const auto refused = makeRequestPlan(huge, text, roomy);
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().message.find("256 million") != std::string::npos);
    }
    void aPlanOfNothingIsRefused() {
        Workload workload;
        workload.arrivals.ratePerS = 0.001;
        workload.requests.reset();
        workload.durationS = 0.01;
        QVERIFY(!makeRequestPlan(workload, tests::WordText(), roomy).ok());
        workload = Workload();
        workload.warmup.seconds = 10'000;
        const auto plan = makeRequestPlan(workload, tests::WordText(), roomy);
        QVERIFY(!plan.ok());
        QVERIFY(plan.error().message.find("leaves no request") != std::string::npos);
    }
    void aClosedLoopLimitedByTimeMakesMore() {
        const tests::WordText text;
        Workload workload = varied();
        workload.arrivals.kind = ArrivalKind::Closed;
        const RequestPlan limited = planOf(workload, text);
        QVERIFY(limited.more == nullptr);
        workload.requests.reset();
        workload.durationS = 5;
        const RequestPlan plan = planOf(workload, text);
        QVERIFY(plan.more != nullptr);
        for (std::int64_t number = 1; number <= 40; ++number) {
            QVERIFY(plan.more->request(number) == limited.requests[static_cast<std::size_t>(number - 1)]);
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestRequestPlan);
#include "test_request_plan.moc"
