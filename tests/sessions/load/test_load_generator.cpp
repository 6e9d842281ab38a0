#include <QtTest>
#include <algorithm>
#include <cmath>

#include "sessions/load/load_generator.h"
#include "tests/sessions/load/fake_clock.h"
#include "tests/sessions/load/scripted_target.h"
#include "tests/sessions/load/word_text.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;
using engine::FinishReason;
using engine::Nanoseconds;

namespace {

constexpr Nanoseconds ms = 1'000'000;
constexpr Nanoseconds second = 1000 * ms;
constexpr Nanoseconds start = 5000 * second;

/// One load under a fake clock.
struct Bench {
    explicit Bench(const Workload& workload) : m_workload(workload) {}

    void prepare() {
        auto plan = makeRequestPlan(m_workload, m_text, 100'000);
        if (!plan) qFatal("%s", plan.error().message.c_str());
        LoadGenerator::Setup setup;
        setup.startNs = start;
        setup.outputTextBytes = textBytes;
        generator = std::make_unique<LoadGenerator>(std::move(*plan), target, clock, setup);
    }
    std::vector<RequestRecord> run() {
        if (generator == nullptr) prepare();
        complete = generator->run(stop.get_token());
        news = generator->live().takeNews();
        std::vector<RequestRecord> records = news.ended;
        std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
        return records;
    }

    tests::FakeClock clock{start};
    tests::ScriptedTarget target{clock};
    std::unique_ptr<LoadGenerator> generator;
    std::stop_source stop;
    LoadNews news;
    std::size_t textBytes = 1000;
    bool complete = false;

private:
    Workload m_workload;
    tests::WordText m_text;
};

Workload steady(std::int64_t requests, double ratePerS, std::int64_t outputTokens) {
    Workload workload;
    workload.arrivals.kind = ArrivalKind::Constant;
    workload.arrivals.ratePerS = ratePerS;
    workload.requests = requests;
    workload.promptTokens.mean = 12;
    workload.outputTokens.mean = static_cast<double>(outputTokens);
    return workload;
}

Workload closed(std::int64_t requests, std::int64_t clients, double thinkS) {
    Workload workload = steady(requests, 1, 5);
    workload.arrivals.kind = ArrivalKind::Closed;
    workload.arrivals.clients = clients;
    workload.arrivals.thinkS = thinkS;
    return workload;
}

}  // namespace

class TestLoadGenerator : public QObject {
    Q_OBJECT
private slots:
    void requestsLeaveWhenPlannedAndEveryTimeIsKept() {
        Bench bench(steady(20, 10, 4));
        const auto records = bench.run();
        QVERIFY(bench.complete);
        QCOMPARE(records.size(), std::size_t{20});
        for (std::size_t i = 0; i < 20; ++i) {
            const RequestRecord& record = records[i];
            const Nanoseconds planned = static_cast<Nanoseconds>(i) * 100 * ms;
            QCOMPARE(record.number, static_cast<std::int64_t>(i) + 1);
            QCOMPARE(record.plannedNs, planned);
            QCOMPARE(bench.target.seen[i].atNs, start + planned);
            QCOMPARE(*record.sentNs, planned);
            QCOMPARE(*record.scheduledNs, planned + 10 * ms);
            QCOMPARE(*record.prefillEndNs, planned + 10 * ms);
            QCOMPARE(*record.firstTokenNs, planned + 10 * ms);
            QCOMPARE(record.deltaNs, (std::vector<std::int64_t>{planned + 10 * ms, planned + 11 * ms, planned + 12 * ms,
                                                                planned + 13 * ms}));
            QCOMPARE(*record.endNs, planned + 13 * ms);
            QCOMPARE(record.promptTokens, std::int64_t{12});
            QCOMPARE(record.outputTokens, std::int64_t{4});
            QVERIFY(record.reason == FinishReason::Length);
            QCOMPARE(record.output, std::string("xxxx"));
            QVERIFY(!record.prompt.empty() && !record.hungUp);
            QCOMPARE(bench.target.seen[i].submission.maxTokens, std::int64_t{4});
            QVERIFY(bench.target.seen[i].submission.ignoreEndOfGeneration);
        }
        QCOMPARE(bench.news.numbers.size(), std::size_t{20});
    }
    void aStallIsSeenByEveryRequestPlannedInIt() {
        // No coordinated omission: 2 s in which nothing is answered, twenty requests planned in them.
        Bench bench(steady(60, 10, 1));
        bench.target.stallFromNs = start + 2 * second;
        bench.target.stallToNs = start + 4 * second;
        const auto records = bench.run();
        QCOMPARE(records.size(), std::size_t{60});
        int stalled = 0;
        for (const RequestRecord& record : records) {
            const Nanoseconds ttft = *record.firstTokenNs - record.plannedNs;
            const Nanoseconds answer = record.plannedNs + 10 * ms;
            const bool within = answer >= 2 * second && answer < 4 * second;
            QCOMPARE(ttft, within ? 4 * second - record.plannedNs : 10 * ms);
            QCOMPARE(*record.sentNs, record.plannedNs);  // the sender did not wait for the engine
            stalled += within ? 1 : 0;
        }
        QCOMPARE(stalled, 20);
    }
    void aLateSenderMeasuresFromThePlannedTime() {
        Bench bench(steady(5, 10, 1));
        bench.clock.lateNs = 30 * ms;
        for (const RequestRecord& record : bench.run()) {
            // The first is planned where nobody had to wait.
            QCOMPARE(*record.sentNs - record.plannedNs, record.number == 1 ? Nanoseconds{0} : 30 * ms);
            QCOMPARE(*record.firstTokenNs - *record.sentNs, 10 * ms);
        }
    }
    void aClosedLoopKeepsItsClientsBusy() {
        Bench bench(closed(60, 6, 0));
        const auto records = bench.run();
        QCOMPARE(records.size(), std::size_t{60});
        QCOMPARE(bench.target.mostInFlight, std::size_t{6});
        for (std::size_t i = 6; i < 60; ++i) {
            QCOMPARE(records[i].plannedNs, *records[i - 6].endNs);
            QCOMPARE(*records[i].sentNs, records[i].plannedNs);
        }
    }
    void clientsThinkAndStartSpread() {
        Workload workload = closed(30, 3, 0.25);
        workload.arrivals.rampS = 0.06;
        Bench bench(workload);
        const auto records = bench.run();
        for (std::size_t i = 0; i < 3; ++i) QCOMPARE(records[i].plannedNs, static_cast<Nanoseconds>(i) * 20 * ms);
        for (std::size_t i = 3; i < 30; ++i) QCOMPARE(records[i].plannedNs, *records[i - 3].endNs + 250 * ms);
    }
    void exponentialThinkingHasItsMean() {
        Workload workload = closed(4000, 1, 0.25);
        workload.arrivals.think = ThinkKind::Exponential;
        Bench bench(workload);
        const auto records = bench.run();
        const double pauses = static_cast<double>(*records.back().endNs) / 1e9 - 4000 * 0.014;
        QVERIFY2(std::abs(pauses / 3999 - 0.25) < 0.015, qPrintable(QString::number(pauses / 3999)));
    }
    void aClosedLoopEndsWithItsTime() {
        Workload workload = closed(1, 4, 0.1);
        workload.requests.reset();
        workload.durationS = 2;
        Bench bench(workload);
        const auto records = bench.run();
        QVERIFY(bench.complete);
        QVERIFY(!bench.generator->planned());
        // A client's round takes 14 + 100 ms: 18 of them are planned before two seconds have passed.
        QCOMPARE(records.size(), std::size_t{4 * 18});
        for (const RequestRecord& record : records) {
            QVERIFY(record.plannedNs < 2 * second);
            QVERIFY(record.reason == FinishReason::Length);
            QCOMPARE(*record.sentNs, record.plannedNs);
        }
    }
    void hangUpsHappenAtTheirToken() {
        Workload workload = steady(200, 100, 20);
        workload.hangUpShare = 0.3;
        tests::WordText text;
        const auto plan = makeRequestPlan(workload, text, 1000);
        QVERIFY(plan.ok());
        for (const bool tellsEnd : {true, false}) {
            Bench bench(workload);
            bench.target.tellsEnd = tellsEnd;
            const auto records = bench.run();
            QCOMPARE(records.size(), std::size_t{200});
            std::size_t left = 0;
            for (std::size_t i = 0; i < 200; ++i) {
                const std::int64_t after = plan->requests[i].hangUpAfter;
                QCOMPARE(records[i].hungUp, after > 0);
                QCOMPARE(records[i].outputTokens, after > 0 ? after : 20);
                if (after == 0) continue;
                ++left;
                QVERIFY(records[i].reason == FinishReason::Cancelled);
                QCOMPARE(records[i].deltaNs.size(), static_cast<std::size_t>(after));
                const Nanoseconds told = tellsEnd ? bench.target.cancelNs : 0;
                QCOMPARE(*records[i].endNs, records[i].deltaNs.back() + told);
                QCOMPARE(bench.target.disconnects[i + 1], 1);
            }
            QVERIFY(left > 30);
            QCOMPARE(bench.target.disconnects.size(), left);
            // What a target runs on for nobody is ended with the load.
            QCOMPARE(bench.target.cancels.size(), tellsEnd ? 0 : left);
            QCOMPARE(bench.generator->live().progress().cancelled, static_cast<std::int64_t>(left));
        }
    }
    void aClientThatHungUpComesBack() {
        Workload workload = closed(40, 2, 0);
        workload.hangUpShare = 1;
        for (const bool tellsEnd : {true, false}) {
            Bench bench(workload);
            bench.target.tellsEnd = tellsEnd;
            QCOMPARE(bench.run().size(), std::size_t{40});
            QVERIFY(bench.complete);
        }
    }
    void cancelEndsEverythingExactlyOnce() {
        Bench bench(steady(100, 10, 1000));
        bench.prepare();
        bench.clock.at(start + 1250 * ms, [&] { bench.stop.request_stop(); });
        bench.clock.at(start + 1250 * ms, [&] { bench.stop.request_stop(); });
        const auto records = bench.run();
        QVERIFY(!bench.complete);
        QCOMPARE(bench.target.seen.size(), std::size_t{13});
        QCOMPARE(records.size(), std::size_t{13});
        QCOMPARE(bench.target.inFlight, std::size_t{0});
        QCOMPARE(bench.target.ends.size(), std::size_t{13});
        for (const auto& [id, times] : bench.target.ends) QCOMPARE(times, 1);
        for (std::size_t i = 0; i < 13; ++i) {
            // The first two have had their thousand tokens before.
            const bool done = i < 3;
            QVERIFY(records[i].reason == (done ? FinishReason::Length : FinishReason::Cancelled));
            QCOMPARE(bench.target.cancels.count(i + 1), std::size_t{done ? 0U : 1U});
            if (!done) QCOMPARE(*records[i].endNs, 1250 * ms + bench.target.cancelNs);
        }
        const LoadProgress progress = bench.generator->live().progress();
        QCOMPARE(progress.running, std::int64_t{0});
        QCOMPARE(progress.done, std::int64_t{13});
        QCOMPARE(progress.cancelled, std::int64_t{10});
    }
    void aStopBeforeTheStartSendsNothing() {
        Bench bench(closed(10, 2, 0));
        bench.stop.request_stop();
        QVERIFY(bench.run().empty());
        QVERIFY(!bench.complete);
        QVERIFY(bench.target.seen.empty());
    }
    void rejectionsAreFailuresAndTheLoopGoesOn() {
        for (const bool open : {true, false}) {
            Bench bench(open ? steady(10, 10, 3) : closed(10, 2, 0));
            bench.target.rejected = {2, 3, 10};
            const auto records = bench.run();
            QCOMPARE(records.size(), std::size_t{10});
            QVERIFY(records[1].reason == FinishReason::Rejected);
            QCOMPARE(records[1].detail, std::string("the queue is full"));
            QVERIFY(!records[1].firstTokenNs && records[1].deltaNs.empty());
            QCOMPARE(*records[1].endNs, *records[1].sentNs);
            QCOMPARE(bench.generator->live().progress().failed, std::int64_t{3});
            QCOMPARE(bench.generator->live().progress().completed, std::int64_t{7});
        }
    }
    void theWarmupEndsWithThePlannedTimeOfTheFirstMeasuredRequest() {
        Workload workload = steady(20, 10, 2);
        workload.warmup.requests = 5;
        Bench open(workload);
        const auto records = open.run();
        QCOMPARE(*open.news.warmupEndNs, records[5].plannedNs);
        workload.warmup = {0, 1.5};
        Bench seconds(workload);
        seconds.run();
        QCOMPARE(*seconds.news.warmupEndNs, 1500 * ms);
        workload = closed(20, 2, 0);
        workload.warmup.requests = 5;
        Bench loop(workload);
        const auto looped = loop.run();
        QCOMPARE(*loop.news.warmupEndNs, looped[5].plannedNs);
        Bench none(closed(20, 2, 0));
        none.run();
        QVERIFY(!none.news.warmupEndNs);
    }
    void progressCanBeReadMeanwhile() {
        Bench bench(steady(50, 10, 2));
        bench.prepare();
        LoadProgress middle;
        std::vector<RequestRecord> unfinished;
        bench.clock.at(start + 2510 * ms + 1, [&] {
            middle = bench.generator->live().progress();
            unfinished = bench.generator->live().unfinished();
            QVERIFY(bench.generator->live().unfinished().empty());
        });
        bench.run();
        QVERIFY(middle.phase == LoadPhase::Running);
        QCOMPARE(middle.elapsedNs, 2510 * ms + 1);
        QCOMPARE(middle.sent, std::int64_t{26});
        QCOMPARE(middle.done, std::int64_t{25});
        QCOMPARE(middle.running, std::int64_t{1});
        QCOMPARE(*middle.ttftP50Ms, 10.0);
        QCOMPARE(*middle.ttftP95Ms, 10.0);
        QCOMPARE(middle.promptTokens, std::int64_t{26 * 12});
        QCOMPARE(middle.outputTokens, std::int64_t{51});
        QVERIFY(std::abs(*middle.outputTokensPerS - 51 / 2.51) < 0.001);
        QCOMPARE(*bench.generator->planned(), std::int64_t{50});
        QCOMPARE(unfinished.size(), std::size_t{1});
        QCOMPARE(unfinished[0].number, std::int64_t{26});
        QVERIFY(!unfinished[0].endNs);
        QCOMPARE(unfinished[0].deltaNs.size(), std::size_t{1});
    }
    void answersAreKeptUpToTheirRoom() {
        Bench bench(steady(10, 10, 4));
        bench.textBytes = 10;
        const auto records = bench.run();
        QCOMPARE(records[0].output, std::string("xxxx"));
        QCOMPARE(records[1].output, std::string("xxxx"));
        QCOMPARE(records[2].output, std::string("xx"));
        QCOMPARE(records[3].output, std::string());
        QCOMPARE(records[9].outputTokens, std::int64_t{4});
    }
    void updatesAfterTheEndChangeNothing() {
        Bench bench(steady(3, 10, 2));
        const auto records = bench.run();
        engine::RequestUpdate late;
        late.state = engine::RequestState::Finished;
        late.reason = FinishReason::Error;
        late.outputTokens = 77;
        bench.generator->live().update(2, late);
        bench.generator->live().update(99, late);
        QVERIFY(bench.generator->live().takeNews().ended.empty());
        QCOMPARE(bench.generator->live().progress().done, std::int64_t{3});
        QCOMPARE(bench.generator->live().progress().outputTokens, std::int64_t{6});
    }
    void theSenderSleepsWhileTokensCome() {
        Bench bench(steady(100, 10, 500));
        bench.run();
        // A wait for each request that is sent and one for each end, none for the 50,000 tokens.
        QVERIFY2(bench.clock.waits < 250, qPrintable(QString::number(bench.clock.waits)));
    }
};

FIRSTTOKEN_TEST_CLASS(TestLoadGenerator);
#include "test_load_generator.moc"
