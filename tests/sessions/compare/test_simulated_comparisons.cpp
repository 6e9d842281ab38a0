#include <QtTest>
#include <map>

#include "sessions/compare/comparison.h"
#include "tests/sessions/compare/simulated_sessions.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::sessions;
using namespace firsttoken::tests;

/// 200 comparisons of two arms of five runs, of which it is known whether they differ.
class TestSimulatedComparisons : public QObject {
    Q_OBJECT

    struct Tally {
        std::map<std::string, int> better, worse;
        int withClaims = 0;          ///< comparisons with some better or worse beside the primary metric
        int undecidedUnnamed = 0;    ///< metrics without a word on the runs needed
        int primaryFalseOrTrue = 0;  ///< verdicts of the whole that are better or worse
    };

    static void count(const Comparison& comparison, Tally& tally) {
        for (const MetricComparison& metric : comparison.metrics) {
            if (metric.verdict == Verdict::Better) ++tally.better[metric.name];
            if (metric.verdict == Verdict::Worse) ++tally.worse[metric.name];
            const bool named = metric.runsNeeded && !metric.note.empty();
            if (metric.verdict == Verdict::Undecided && !named) ++tally.undecidedUnnamed;
        }
        if (!comparison.alsoBetter.empty() || !comparison.alsoWorse.empty()) ++tally.withClaims;
        if (comparison.verdict == Verdict::Better || comparison.verdict == Verdict::Worse) ++tally.primaryFalseOrTrue;
    }
    static Tally compareArms(bool sameSeed, double slowdown) {
        Tally tally;
        for (std::uint64_t i = 0; i < 200; ++i) {
            const auto a = simulatedArm(5, sameSeed, 2 * i + 1);
            const auto b = simulatedArm(5, sameSeed, 2 * i + 2, slowdown);
            const Comparison comparison = compare(a, b);
            if (!comparison.unlike.empty()) return {};
            count(comparison, tally);
        }
        return tally;
    }

private slots:
    void equalArms_data() {
        QTest::addColumn<bool>("sameSeed");
        QTest::newRow("one seed") << true;
        QTest::newRow("pairs of seeds") << false;
    }
    void equalArms() {
        QFETCH(bool, sameSeed);
        Tally tally = compareArms(sameSeed, 1);
        QCOMPARE(tally.undecidedUnnamed, 0);
        const Comparison names = compare(simulatedArm(2, true, 1), simulatedArm(2, true, 2));
        QCOMPARE(names.metrics.size(), std::size_t{21});
        for (const MetricComparison& metric : names.metrics) {
            const int claims = tally.better[metric.name] + tally.worse[metric.name];
            QVERIFY2(claims <= 16, qPrintable(QString("%1: %2").arg(metric.name.c_str()).arg(claims)));
        }
        // All metrics but the primary one are judged together: of 200, 10 are expected at most.
        QVERIFY2(tally.withClaims <= 16, qPrintable(QString::number(tally.withClaims)));
        QVERIFY(tally.primaryFalseOrTrue > 0);  // a test at 5 % that never claims anything is none
    }

    void slowerArms_data() { equalArms_data(); }
    /// Every time on the engine is 15 % longer. The p99 and the short queue of 300 requests vary more between equal
    /// runs than five runs can see through.
    void slowerArms() {
        QFETCH(bool, sameSeed);
        Tally tally = compareArms(sameSeed, 1.15);
        QCOMPARE(tally.undecidedUnnamed, 0);
        QVERIFY2(tally.primaryFalseOrTrue >= 160, qPrintable(QString::number(tally.primaryFalseOrTrue)));
        for (const char* name : {"ttft_p50", "ttft_p95", "itl_p50", "itl_p95", "itl_p99", "tpot_p50", "tpot_p95",
                                 "tpot_p99", "e2e_p50", "e2e_p95", "goodput_per_s", "goodput_fraction"}) {
            QVERIFY2(tally.worse[name] >= 160, qPrintable(QString("%1: %2").arg(name).arg(tally.worse[name])));
            QCOMPARE(tally.better[name], 0);
        }
        for (const char* name : {"ttft_p99", "e2e_p99", "queue_p50", "queue_p95", "queue_p99"}) {
            QVERIFY2(tally.better[name] <= 2, name);
        }
        // What the slowdown does not touch stays as it was.
        for (const char* name : {"output_tokens_per_s", "prefix_hit_fraction", "kv_peak_fraction"}) {
            const int claims = tally.better[name] + tally.worse[name];
            QVERIFY2(claims <= 16, qPrintable(QString("%1: %2").arg(name).arg(claims)));
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestSimulatedComparisons);
#include "test_simulated_comparisons.moc"
