#include <QtTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sessions/compare/comparison.h"
#include "sessions/metrics/session_metrics.h"
#include "tests/sessions/compare/simulated_sessions.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;
using namespace firsttoken::tests;

class TestComparison : public QObject {
    Q_OBJECT

    using Sessions = std::vector<SessionData>;

    static MetricComparison metric(const Comparison& comparison, const std::string& name) {
        for (const MetricComparison& metric : comparison.metrics) {
            if (metric.name == name) return metric;
        }
        qFatal("no metric %s", name.c_str());
    }
    static void replace(std::string& text, const std::string& from, const std::string& to) {
        const auto at = text.find(from);
        QVERIFY2(at != std::string::npos, from.c_str());
        text.replace(at, from.size(), to);
    }
    static void setTargets(Sessions& sessions, const std::string& targets) {
        for (SessionData& session : sessions) {
            replace(session.header.effectiveProfile, R"(["ttft p95 <= 400 ms"])", targets);
            session.header.requestedProfile = session.header.effectiveProfile;
        }
    }

private slots:
    void namesOfTheContract() {
        const Comparison comparison = compare(simulatedArm(2, true, 1), simulatedArm(2, true, 2));
        std::vector<std::string> names;
        for (const MetricComparison& metric : comparison.metrics) names.push_back(metric.name);
        std::vector<std::string> wanted;
        for (const char* latency : {"ttft", "itl", "tpot", "e2e", "queue"}) {
            for (const char* quantile : {"p50", "p95", "p99"}) wanted.push_back(std::string(latency) + "_" + quantile);
        }
        for (const char* name : {"output_tokens_per_s", "goodput_per_s", "goodput_fraction", "prefix_hit_fraction",
                                 "kv_peak_fraction", "device_use"}) {
            wanted.emplace_back(name);
        }
        QCOMPARE(names, wanted);
    }

    void armsAreComparedByTheirRuns() {
        const Sessions a = simulatedArm(3, true, 1);
        const Sessions b = simulatedArm(3, true, 2, 1.5);
        const Comparison comparison = compare(a, b);
        std::vector<engine::RunValue> valuesA, valuesB;
        for (const SessionData& session : a) valuesA.push_back({*summarise(session).ttft.p95.value, 1});
        for (const SessionData& session : b) valuesB.push_back({*summarise(session).ttft.p95.value, 1});
        const auto expected = engine::compareRuns(valuesA, valuesB);
        const MetricComparison& ttft = metric(comparison, "ttft_p95");
        QVERIFY(ttft.a == expected.a && ttft.b == expected.b && ttft.interval == expected.interval);
        QVERIFY(ttft.pValue == expected.pValue);  // the primary metric is tested alone
        QVERIFY(ttft.intervalKind == IntervalKind::BetweenRuns);
        QCOMPARE(*ttft.difference, *ttft.b / *ttft.a - 1);
        QVERIFY(ttft.interval->low < *ttft.difference && *ttft.difference < ttft.interval->high);
        QVERIFY(comparison.verdict == Verdict::Worse);
        QCOMPARE(comparison.primary, std::string("ttft_p95"));
        QVERIFY(std::count(comparison.alsoWorse.begin(), comparison.alsoWorse.end(), "itl_p50") == 1);
        QVERIFY(comparison.summary.starts_with("worse by ttft_p95: +"));
        QCOMPARE(comparison.armA.runs, 3);
        QCOMPARE(comparison.armB.completed, 900);
    }

    void directions() {
        const Comparison faster = compare(simulatedArm(4, true, 1, 1.6), simulatedArm(4, true, 2));
        QVERIFY(metric(faster, "ttft_p95").verdict == Verdict::Better);
        QVERIFY(metric(faster, "goodput_fraction").verdict == Verdict::Better);
        const MetricComparison& use = metric(faster, "device_use");
        QVERIFY(*use.difference < -0.2 && use.interval->high < 0);
        QVERIFY(use.verdict == Verdict::Undecided);  // sure, but neither way is better
        QCOMPARE(use.runsNeeded.value(), 0);
        QVERIFY(use.note.find("neither") != std::string::npos);
        QVERIFY(metric(faster, "output_tokens_per_s").verdict == Verdict::Equivalent);
    }

    void theTargetNamesThePrimaryMetric() {
        Sessions a = simulatedArm(3, true, 1);
        Sessions b = simulatedArm(3, true, 2, 1.3);
        setTargets(a, R"(["itl p90 <= 30 ms","ttft p95 <= 400 ms"])");
        QCOMPARE(compare(a, b).primary, std::string("itl_p95"));
        QVERIFY(compare(a, b).verdict == Verdict::Worse);
        setTargets(b, "[]");
        QCOMPARE(compare(b, a).primary, std::string("ttft_p95"));
        for (Sessions* arm : {&a, &b}) {
            for (SessionData& session : *arm) {
                for (RequestRecord& request : session.requests) request.deltaNs.resize(1);
            }
        }
        QCOMPARE(compare(a, b).primary, std::string("ttft_p95"));  // nothing has an itl any more
    }

    void oneRunAnArm() {
        const Comparison comparison = compare(simulatedArm(1, true, 1), simulatedArm(1, true, 2, 1.5));
        QVERIFY(comparison.verdict == Verdict::Undecided);
        for (const MetricComparison& metric : comparison.metrics) {
            QVERIFY(metric.verdict == Verdict::Undecided);
            QVERIFY2(metric.runsNeeded.value() >= 4, metric.name.c_str());
            QVERIFY(!metric.note.empty() && !metric.pValue);
            QVERIFY((metric.intervalKind == IntervalKind::WithinRun) == metric.interval.has_value());
        }
        const MetricComparison& ttft = metric(comparison, "ttft_p50");
        QVERIFY(ttft.interval && ttft.interval->low < 0.5 && ttft.interval->high > 0.4);
        for (const char* name : {"ttft_p95", "itl_p99", "output_tokens_per_s", "goodput_fraction", "device_use"}) {
            QVERIFY2(metric(comparison, name).interval, name);
        }
        QVERIFY(!metric(comparison, "ttft_p99").interval);  // 300 values are not enough
        QVERIFY(!metric(comparison, "kv_peak_fraction").interval);
        QVERIFY(comparison == compare(simulatedArm(1, true, 1), simulatedArm(1, true, 2, 1.5)));
    }

    void tooShortForBlocks() {
        SimulatedRun run;
        run.requests = 20;
        const Sessions session{simulatedSession(run)};
        const MetricComparison ttft = metric(compare(session, session), "ttft_p50");
        QVERIFY(!ttft.interval && ttft.intervalKind == IntervalKind::None);
        QCOMPARE(ttft.difference.value(), 0.0);
        QCOMPARE(ttft.runsNeeded.value(), 4);
    }

    void aSessionNamedTwiceIsOneRun() {
        const Sessions one = simulatedArm(1, true, 1);
        const Sessions thrice{one[0], one[0], one[0]};
        const Comparison comparison = compare(thrice, simulatedArm(1, true, 2));
        QCOMPARE(comparison.armA.runs, 1);
        QVERIFY(comparison.verdict == Verdict::Undecided);
    }

    void equalRunsAreEquivalent() {
        const Sessions a = simulatedArm(3, false, 1);
        const Comparison comparison = compare(a, a);
        for (const MetricComparison& metric : comparison.metrics) {
            QVERIFY2(metric.verdict == Verdict::Equivalent, metric.name.c_str());
            QCOMPARE(metric.difference.value(), 0.0);
        }
    }

    /// Counts of the work itself do not vary: three runs are enough to see that they differ.
    void factsWithoutSpread() {
        Sessions a = simulatedArm(3, true, 1);
        Sessions b = simulatedArm(3, true, 2);
        for (SessionData& session : a) {
            for (RequestRecord& request : session.requests) request.cachedTokens = 0;
        }
        for (SessionData& session : b) {
            for (RequestRecord& request : session.requests) request.cachedTokens = request.promptTokens / 2;
        }
        const MetricComparison& hits = metric(compare(a, b), "prefix_hit_fraction");
        QCOMPARE(hits.a.value(), 0.0);
        QVERIFY(!hits.difference && !hits.interval);
        QVERIFY(hits.verdict == Verdict::Better);
    }

    void whatWasNotMeasured() {
        Sessions a = simulatedArm(3, true, 1);
        for (SessionData& session : a) session.samples.clear();
        const MetricComparison use = metric(compare(a, simulatedArm(3, true, 2)), "device_use");
        QVERIFY(!use.a && use.b && !use.difference && !use.interval);
        QVERIFY(use.verdict == Verdict::Undecided);
        QVERIFY(use.runsNeeded.value() > 0);
        QVERIFY(use.note.find("arm A") != std::string::npos);
    }

    void marginDecidesWhatMatters() {
        const Sessions a = simulatedArm(5, true, 1);
        const Sessions b = simulatedArm(5, true, 2, 1.1);
        QVERIFY(metric(compare(a, b, {0.5}), "itl_p50").verdict == Verdict::Equivalent);
        QVERIFY(metric(compare(a, b, {0.01}), "itl_p50").verdict == Verdict::Worse);
        const auto strict = metric(compare(a, simulatedArm(5, true, 3), {0.001}), "ttft_p99").runsNeeded;
        const auto lax = metric(compare(a, simulatedArm(5, true, 3), {0.1}), "ttft_p99").runsNeeded;
        QVERIFY(strict.value() > lax.value_or(0));
    }

    /// The limits are a yardstick, not a setting: both arms are held against those of A.
    void goodputByTheSameLimits() {
        const Sessions a = simulatedArm(2, true, 1);
        Sessions b = a;
        for (SessionData& session : b) {
            session.header.id += 100;
            replace(session.header.effectiveProfile, "\"ttft_ms\":400", "\"ttft_ms\":1");
        }
        const Comparison comparison = compare(a, b);
        QCOMPARE(metric(comparison, "goodput_fraction").difference.value(), 0.0);
        QCOMPARE(comparison.profileDiff.size(), std::size_t{1});
        QCOMPARE(comparison.profileDiff[0].key, std::string("slo.ttft_ms"));
    }

    void profileDifferences() {
        const Sessions a = simulatedArm(1, true, 1);
        Sessions b = simulatedArm(1, true, 2);
        SessionHeader& header = b[0].header;
        replace(header.effectiveProfile, "2048", "512");
        replace(header.requestedProfile, "2048", "256");
        replace(header.requestedProfile, R"("streaming":true)", R"("streaming":true,"later":null)");
        const auto differences = compare(a, b).profileDiff;
        QCOMPARE(differences.size(), std::size_t{2});
        QVERIFY((differences[0] == ProfileDifference{"scheduler.max_batch_tokens", "2048", "512", "2048", "256"}));
        QVERIFY((differences[1] == ProfileDifference{"response.later", "", "", "", "null"}));
        header.effectiveProfile = "no profile";
        QVERIFY(compare(a, b).profileDiff.size() > 5);
        QVERIFY(compare(a, b).unlike.empty());
    }

    void json() {
        const Sessions a = simulatedArm(1, true, 1);
        Sessions b = simulatedArm(1, true, 2);
        replace(b[0].header.effectiveProfile, "2048", "512");
        b[0].header.build = "odd \xFF build";
        b[0].samples.clear();
        const auto parsed = nlohmann::json::parse(toJson(compare(a, b)));
        QCOMPARE(parsed["verdict"], "refused");
        QCOMPARE(parsed["unlike"], nlohmann::json::array({"build"}));
        QCOMPARE(parsed["profile_diff"][0]["key"], "scheduler.max_batch_tokens");
        QCOMPARE(parsed["profile_diff"][0]["a"], 2048);
        QCOMPARE(parsed["profile_diff"][0]["b"], 512);
        QCOMPARE(parsed["metrics"].size(), std::size_t{21});
        QVERIFY(parsed["metrics"][0]["interval"].is_null());
        QVERIFY(parsed["metrics"][0]["difference"].is_number());
        QVERIFY(parsed["metrics"][20]["b"].is_null());
        b[0].header.build = a[0].header.build;
        const auto within = nlohmann::json::parse(toJson(compare(a, b), 2));
        QCOMPARE(within["metrics"][0]["interval"].size(), std::size_t{2});
        QCOMPARE(within["metrics"][0]["interval_kind"], "within_run_blocks");
        QCOMPARE(within["metrics"][0]["verdict"], "undecided");
        QVERIFY(within["metrics"][0]["runs_needed"].is_number_integer());
    }

    void failuresLowerTheGoodput() {
        const Sessions a = simulatedArm(3, true, 1);
        Sessions b;
        for (std::uint64_t i = 1; i <= 3; ++i) b.push_back(simulatedSession({1, 2000 + i, 1, 0.02, 300, 3}));
        const Comparison comparison = compare(a, b);
        QCOMPARE(comparison.armB.failed, 300);
        QVERIFY(metric(comparison, "goodput_fraction").verdict == Verdict::Worse);
        QVERIFY(!comparison.alsoWorse.empty());
    }
};

FIRSTTOKEN_TEST_CLASS(TestComparison);
#include "test_comparison.moc"
