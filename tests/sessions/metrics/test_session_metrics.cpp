#include <QtTest>
#include <cmath>
#include <random>

#include "sessions/metrics/session_metrics.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;

class TestSessionMetrics : public QObject {
    Q_OBJECT

    static constexpr std::int64_t ms = 1'000'000;

    static SessionData load(const std::string& slo = R"("ttft_ms":650,"tpot_ms":null,"e2e_ms":null,"targets":[])") {
        SessionData session;
        session.header.kind = SessionKind::Load;
        session.header.state = SessionState::Completed;
        session.header.effectiveProfile = R"({"response":{"streaming":true},"slo":{)" + slo + "}}";
        return session;
    }
    /// A success with its deltas at these ms after the planned time.
    static RequestRecord success(std::int64_t number, std::int64_t plannedMs, std::int64_t queueMs,
                                 const std::vector<std::int64_t>& deltasMs) {
        RequestRecord request;
        request.number = number;
        request.plannedNs = plannedMs * ms;
        request.sentNs = request.plannedNs + ms;
        request.scheduledNs = request.plannedNs + queueMs * ms;
        request.prefillEndNs = request.plannedNs + deltasMs.front() * ms;
        for (const std::int64_t at : deltasMs) request.deltaNs.push_back(request.plannedNs + at * ms);
        request.firstTokenNs = request.deltaNs.front();
        request.endNs = request.deltaNs.back();
        request.promptTokens = 100;
        request.outputTokens = static_cast<std::int64_t>(deltasMs.size());
        request.reason = engine::FinishReason::Length;
        return request;
    }
    static bool near(const std::optional<double>& value, double expected) {
        return value && std::abs(*value - expected) <= 1e-9 * std::max(1.0, std::abs(expected));
    }

    /// Four successes, a refusal, a failure half-way, a client who left, one cancelled with the run, one cut off.
    static SessionData smallSession() {
        SessionData session = load(R"("ttft_ms":650,"tpot_ms":60,"e2e_ms":null,"targets":)"
                                   R"(["ttft p95 <= 650 ms","itl p50 <= 50 ms","queue p90 <= 0.2 s"])");
        session.requests = {success(1, 0, 10, {100, 150, 210}), success(2, 500, 20, {700, 750, 800}),
                            success(3, 1000, 40, {300}), success(4, 1500, 80, {200, 300, 400})};
        session.requests[1].cachedTokens = 50;
        for (std::int64_t number = 5; number <= 9; ++number) {
            RequestRecord request = success(number, 1500 + 100 * number, 30, {100, 5000});
            request.outputTokens = 1;
            session.requests.push_back(request);
        }
        RequestRecord& refused = session.requests[4];
        refused.scheduledNs = refused.prefillEndNs = refused.firstTokenNs = std::nullopt;
        refused.deltaNs.clear();
        refused.outputTokens = 0;
        refused.reason = engine::FinishReason::Rejected;
        session.requests[5].reason = engine::FinishReason::Error;
        session.requests[6].reason = engine::FinishReason::Length;  // it ran on, but its client had left
        session.requests[6].hungUp = true;
        session.requests[7].reason = engine::FinishReason::Cancelled;
        session.requests[8].reason = engine::FinishReason::None;
        session.requests[8].endNs.reset();
        session.marks.push_back({10'000 * ms, MarkKind::LoadEnd, ""});
        return session;
    }

private slots:
    void latenciesByHand() {
        const auto metrics = summarise(smallSession());
        // ttft 100, 700, 300, 200; e2e 210, 800, 300, 400; queue 10, 20, 40, 80; gaps 50, 60, 50, 50, 100, 100.
        QCOMPARE(metrics.ttft.count, 4);
        QVERIFY(near(metrics.ttft.p50.value, 250));
        QVERIFY(near(metrics.ttft.p95.value, 300 + 0.85 * 400));
        QVERIFY(near(metrics.ttft.mean, 325));
        QVERIFY(near(metrics.ttft.max, 700));
        QVERIFY(near(metrics.e2e.p50.value, 350));
        QVERIFY(near(metrics.queue.p50.value, 30));
        QVERIFY(near(metrics.queue.p99.value, 40 + 0.97 * 40));
        QCOMPARE(metrics.itl.count, 6);
        QVERIFY(near(metrics.itl.p50.value, 55));
        QVERIFY(near(metrics.itl.mean, 410.0 / 6));
        QCOMPARE(metrics.itlPerRequest.count, 3);
        QVERIFY(near(metrics.itlPerRequest.p50.value, 55));
        // tpot 110/2, 100/2, none, 200/2.
        QCOMPARE(metrics.tpot.count, 3);
        QVERIFY(near(metrics.tpot.p50.value, 55));
        QVERIFY(near(metrics.tpot.max, 100));
        QCOMPARE(metrics.sendLag.count, 9);
        QVERIFY(near(metrics.sendLag.max, 1));
        QVERIFY(metrics.latency(LatencyMetric::Tpot) == metrics.tpot);
    }

    void countsAndRatesByHand() {
        const auto metrics = summarise(smallSession());
        const RequestCounts& counts = metrics.counts;
        QCOMPARE(counts.requests, 9);
        QCOMPARE(counts.completed, 4);
        QCOMPARE(counts.failed, 2);
        QCOMPARE(counts.cancelled, 2);
        QCOMPARE(counts.hungUp, 1);
        QCOMPARE(counts.unfinished, 1);
        QCOMPARE(counts.requests, counts.completed + counts.failed + counts.cancelled + counts.unfinished);
        QVERIFY(near(metrics.durationS, 10));
        // Good: 1 and 3; 2 misses the ttft, 4 the tpot. One token has no tpot to miss.
        QCOMPARE(counts.good, 2);
        QVERIFY(near(metrics.goodputPerS, 0.2));
        QVERIFY(near(metrics.goodputFraction, 2.0 / 8));  // the one whose end nobody knows is in neither
        QCOMPARE(counts.outputTokens, 3 + 3 + 1 + 3 + 4);
        QVERIFY(near(metrics.outputTokensPerS, 1.4));
        QCOMPARE(counts.promptTokens, 800);  // all but the refused one
        QVERIFY(near(metrics.promptTokensPerS, 80));
        QVERIFY(near(metrics.prefixHitFraction, 50.0 / 800));
        QVERIFY(near(metrics.requestsPerS, 0.4));
    }

    void targetsByHand() {
        const auto targets = summarise(smallSession()).targets;
        QCOMPARE(targets.size(), std::size_t{3});
        QVERIFY(near(targets[0].value.value, 640));
        QCOMPARE(targets[0].met.value(), true);
        QCOMPARE(targets[1].met.value(), false);
        QCOMPARE(targets[2].target.limitMs, 200.0);
        QVERIFY(near(targets[2].value.value, 40 + 0.7 * 40));
        QVERIFY(!targets[0].value.interval);  // four values are not enough
    }

    void intervalsOfOrderStatistics() {
        SessionData session = load();
        for (std::int64_t i = 1; i <= 100; ++i) session.requests.push_back(success(i, i * 10, 0, {i}));
        const auto metrics = summarise(session);
        // Of 100 values the 40th and the 61st for the median; of p95 the 90th and the 99th; none for p99.
        QVERIFY(metrics.ttft.p50.interval.has_value());
        QCOMPARE(metrics.ttft.p50.interval->low, 40.0);
        QCOMPARE(metrics.ttft.p50.interval->high, 61.0);
        QVERIFY(metrics.ttft.p95.interval.has_value());
        QCOMPARE(metrics.ttft.p95.interval->lowRank, std::size_t(metrics.ttft.p95.interval->low));
        QVERIFY(metrics.ttft.p95.interval->low < 95 && metrics.ttft.p95.interval->high > 95);
        QVERIFY(metrics.ttft.p99.value && !metrics.ttft.p99.interval);
    }

    /// One request in ten milliseconds, each served in 5 ms, but the engine stands still from 1 s to 3 s. Whoever was
    /// planned then waited for the rest of the stall: half of all requests took 1 s and more at p75.
    void aStallIsSeenByAllThatWerePlannedInIt() {
        SessionData session = load();
        for (std::int64_t i = 0; i < 400; ++i) {
            const std::int64_t planned = 10 * i;
            const std::int64_t stalled = planned >= 1000 && planned < 3000 ? 3000 - planned : 0;
            RequestRecord request = success(i + 1, planned, stalled, {stalled + 5});
            if (stalled > 0) request.sentNs = *request.firstTokenNs;  // a sender that was stuck itself hides nothing
            session.requests.push_back(request);
        }
        const auto metrics = summarise(session);
        QCOMPARE(metrics.ttft.count, 400);
        QVERIFY(near(metrics.ttft.max, 2005));
        QVERIFY(near(metrics.ttft.p50.value, 5 + 5));  // 200 of 400 waited, at least 10 ms
        // 2005, 1995 … 15, and 200 times 5: the mean is 5 + 200 × 1005 / 400.
        QVERIFY(near(metrics.ttft.mean, 5 + 502.5));
        QVERIFY(*metrics.ttft.p95.value > 1790 && *metrics.ttft.p95.value < 1830);
        QVERIFY(*metrics.sendLag.p95.value > 1790);
        QCOMPARE(metrics.counts.good, 400 - (200 - 64));  // the last 64 of the stall waited up to 640 ms
    }

    void warmupIsLeftOut() {
        SessionData session = smallSession();
        session.marks.insert(session.marks.begin(), {1000 * ms, MarkKind::WarmupEnd, ""});
        SampleRecord sample;
        sample.atNs = 900 * ms;
        sample.blocksTotal = 100;
        sample.blocksReferenced = 99;
        session.samples.push_back(sample);
        sample.atNs = 1100 * ms;
        sample.blocksReferenced = 40;
        session.samples.push_back(sample);
        const auto metrics = summarise(session);
        QCOMPARE(metrics.counts.warmup, 2);
        QCOMPARE(metrics.counts.requests, 7);
        QCOMPARE(metrics.ttft.count, 2);
        QVERIFY(near(metrics.durationS, 9));
        QCOMPARE(metrics.windowStartNs, 1000 * ms);
        QVERIFY(near(metrics.outputTokensPerS, 8.0 / 9));
        QCOMPARE(metrics.kv.peakReferenced.value(), 40);
        QVERIFY(near(metrics.kv.peakFraction, 0.4));
        QCOMPARE(latencyValues(session, LatencyMetric::Ttft), (std::vector<double>{300, 200}));
        QCOMPARE(latencyValues(session, LatencyMetric::Itl), (std::vector<double>{100, 100}));
    }

    void gaugesAreWeightedByTime() {
        SessionData session = load();
        session.requests.push_back(success(1, 0, 0, {4000}));
        const auto sample = [&session](std::int64_t atMs, std::optional<double> use, std::optional<double> gbPerS) {
            SampleRecord record;
            record.atNs = atMs * ms;
            record.deviceUse = use;
            record.achievedGbPerS = gbPerS;
            record.watts = 10;
            session.samples.push_back(record);
        };
        sample(1000, 1.0, 20);
        sample(1500, std::nullopt, std::nullopt);  // steps were lost
        sample(3500, 0.25, 40);
        sample(4500, 0.5, std::nullopt);  // half of it lies behind the end
        session.marks.push_back({4000 * ms, MarkKind::LoadEnd, ""});
        const auto metrics = summarise(session);
        QVERIFY(near(metrics.deviceUse, (1.0 * 1 + 0.25 * 2 + 0.5 * 0.5) / 3.5));
        QVERIFY(near(metrics.achievedGbPerS, (20 * 1.0 + 40 * 0.5) / 1.5));  // by busy time
        QVERIFY(near(metrics.energyJ, 40));
        QVERIFY(!metrics.achievedTopPerS && !metrics.kv.total && !metrics.kv.peakFraction);
    }

    void wholeAnswers() {
        SessionData session = load(R"("ttft_ms":650,"tpot_ms":1,"e2e_ms":null,"targets":[])");
        session.header.effectiveProfile.replace(session.header.effectiveProfile.find("true"), 4, "false");
        session.requests.push_back(success(1, 0, 10, {600}));
        session.requests.back().outputTokens = 32;
        *session.requests.back().endNs += 5 * ms;
        const auto metrics = summarise(session);
        QVERIFY(near(metrics.ttft.p50.value, 600));
        QVERIFY(metrics.ttft == metrics.e2e);
        QCOMPARE(metrics.tpot.count, 0);
        QCOMPARE(metrics.counts.good, 1);
    }

    void anEmptyAnswerHasNoFirstText() {
        SessionData session = load();
        session.requests.push_back(success(1, 0, 10, {50}));
        session.requests.back().firstTokenNs.reset();
        session.requests.back().deltaNs.clear();
        const auto metrics = summarise(session);
        QCOMPARE(metrics.ttft.count, 0);
        QVERIFY(near(metrics.e2e.p50.value, 50));
        QCOMPARE(metrics.counts.good, 0);
    }

    void unknownStaysEmpty() {
        SessionData session;
        const auto nothing = summarise(session);
        QVERIFY(!nothing.durationS && !nothing.ttft.p50.value && !nothing.outputTokensPerS && !nothing.goodputPerS);
        QVERIFY(!nothing.goodputFraction && !nothing.prefixHitFraction && !nothing.deviceUse && !nothing.energyJ);
        QVERIFY(!nothing.kv.total && !nothing.kv.peakReferenced && !nothing.costPerGoodGeneration);
        session = smallSession();
        session.header.effectiveProfile.clear();
        const auto noLimits = summarise(session);
        QVERIFY(noLimits.ttft.p50.value && noLimits.outputTokensPerS);
        QVERIFY(!noLimits.goodputPerS && !noLimits.goodputFraction && noLimits.targets.empty());
        const auto none = summarise(load());
        QVERIFY(!none.outputTokensPerS && !none.goodputFraction);
    }

    void cost() {
        SessionData session = smallSession();
        QVERIFY(!summarise(session).costPerGoodGeneration);
        Yardstick yardstick = yardstickOf(session.header.effectiveProfile);
        yardstick.cost = {3.6, "EUR"};
        const auto metrics = summarise(session, yardstick);
        QVERIFY(near(metrics.costPerGoodGeneration, 3.6 * 10 / 3600 / 2));
        QCOMPARE(metrics.currency.value(), std::string("EUR"));
    }

    void aChatBeginsWithItsFirstQuestion() {
        SessionData session = load();
        session.header.kind = SessionKind::Chat;
        session.requests.push_back(success(1, 60'000, 0, {100, 2000}));
        const auto metrics = summarise(session);
        QVERIFY(near(metrics.durationS, 2));
        QVERIFY(near(metrics.outputTokensPerS, 1));
    }

    void rowsFromAnywhere() {
        SessionData session = load();
        for (const std::int64_t time : {INT64_MIN, std::int64_t{-1}, INT64_MAX}) {
            RequestRecord request;
            request.plannedNs = time;
            request.sentNs = request.scheduledNs = 0;
            request.firstTokenNs = request.endNs = 0;
            request.deltaNs = {5, -5, INT64_MIN, INT64_MAX};
            request.promptTokens = request.cachedTokens = request.outputTokens = INT64_MAX;
            request.preemptions = INT64_MAX;
            request.reason = engine::FinishReason::Stop;
            session.requests.push_back(request);
        }
        for (const std::int64_t time : {INT64_MAX, INT64_MIN}) {
            SampleRecord sample;
            sample.atNs = time;
            sample.blocksTotal = 0;
            sample.blocksReferenced = -7;
            sample.deviceUse = 0.5;
            sample.queued = 1;
            session.samples.push_back(sample);
            session.marks.push_back({time, MarkKind::WarmupEnd, ""});
        }
        const auto metrics = summarise(session);
        QVERIFY(!metrics.kv.peakFraction);
        session.marks.clear();
        QCOMPARE(summarise(session).counts.outputTokens, INT64_MAX);
        const auto times = timeline(session, 1);
        QVERIFY(times.buckets.size() <= static_cast<std::size_t>(mostBuckets));
    }

    /// What a large session costs is printed, not judged: the machine may be busy.
    void aLargeSession() {
        std::mt19937_64 random(1);
        SessionData session = load();
        for (std::int64_t i = 1; i <= 100'000; ++i) {
            std::vector<std::int64_t> deltas{static_cast<std::int64_t>(100 + random() % 1000)};
            while (deltas.size() < 32) deltas.push_back(deltas.back() + 10 + static_cast<std::int64_t>(random() % 20));
            session.requests.push_back(success(i, i, 5, deltas));
        }
        QElapsedTimer timer;
        timer.start();
        const auto metrics = summarise(session);
        const auto summarised = timer.restart();
        const auto times = timeline(session, 100 * ms);
        qInfo("100,000 requests of 32 deltas: summary %lld ms, timeline %lld ms", summarised, timer.elapsed());
        QCOMPARE(metrics.itl.count, 3'100'000);
        QVERIFY(!times.buckets.empty());
    }
};

FIRSTTOKEN_TEST_CLASS(TestSessionMetrics);
#include "test_session_metrics.moc"
