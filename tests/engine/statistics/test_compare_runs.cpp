#include <QtTest>
#include <cmath>
#include <random>

#include "engine/statistics.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestCompareRuns : public QObject {
    Q_OBJECT

    using Runs = std::vector<RunValue>;

    static bool near(double value, double expected, double tolerance = 1e-9) {
        return std::abs(value - expected) <= tolerance * std::max(1.0, std::abs(expected));
    }
    static Runs runs(std::initializer_list<double> values) {
        Runs result;
        for (const double value : values) result.push_back({value, 0});
        return result;
    }
    /// How many of 4,000 comparisons of five runs an arm have p <= 0.05.
    static int found(double ratio, bool blocks, double spreadB) {
        std::mt19937_64 random(11);
        std::normal_distribution<double> normal;
        int count = 0;
        for (int i = 0; i < 4'000; ++i) {
            Runs a, b;
            for (std::uint64_t run = 0; run < 5; ++run) {
                const double block = blocks ? 0.3 * normal(random) : 0;
                a.push_back({100 * std::exp(block + 0.05 * normal(random)), blocks ? run : 0});
                b.push_back({100 * ratio * std::exp(block + spreadB * normal(random)), blocks ? run : 0});
            }
            if (compareRuns(a, b).pValue.value_or(1) <= 0.05) ++count;
        }
        return count;
    }

private slots:
    /// Logarithms to the base 2: A 1, 2, 3, B 2, 3, 7. Means 2 and 4, variances 1 and 7, error √(8/3), Welch's degrees
    /// of freedom (8/3)² / ((1/3)²/2 + (7/3)²/2) = 64/25.
    void welchByHand() {
        const auto result = compareRuns(runs({2, 4, 8}), runs({4, 8, 128}));
        QVERIFY(result.logarithmic);
        QVERIFY(near(result.a.value(), 4));
        QVERIFY(near(result.b.value(), 16));
        QVERIFY(near(result.difference.value(), 3));
        QVERIFY(near(result.freedom, 2.56));
        QVERIFY(near(result.spread.value(), 2 * std::log(2)));
        const double half = studentTQuantile(0.975, 2.56) * std::sqrt(8.0 / 3);
        QVERIFY(near(result.interval->low, std::exp2(2 - half) - 1));
        QVERIFY(near(result.interval->high, std::exp2(2 + half) - 1));
        QVERIFY(near(result.pValue.value(), 2 * studentT(-2 / std::sqrt(8.0 / 3), 2.56)));
    }

    /// With one run of each arm a block it is the paired test: differences 1, 2, 3; mean 2, error 1/√3, 2 degrees.
    void pairsByHand() {
        Runs a, b;
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const auto step = static_cast<double>(seed);
            a.push_back({std::exp(10 * step), seed});
            b.insert(b.begin(), {std::exp(11 * step), seed});  // the order does not matter
        }
        const auto result = compareRuns(a, b);
        QCOMPARE(result.blocks, std::size_t{3});
        QCOMPARE(result.freedom, 2.0);
        QVERIFY(near(result.pValue.value(), 2 * studentT(-2 * std::sqrt(3.0), 2)));
        QVERIFY(near(std::log1p(result.interval->low), 2 - studentTQuantile(0.975, 2) / std::sqrt(3.0)));
    }

    void blocksOfUnequalSharesAreNoise() {
        const Runs a{{1, 1}, {2, 1}, {3, 2}};
        const Runs b{{1, 1}, {2, 2}, {3, 2}};
        QCOMPARE(compareRuns(a, b).blocks, std::size_t{1});
    }

    void valuesThatAreNotPositive() {
        const auto result = compareRuns(runs({0, 1, 2}), runs({2, 3, 4}));
        QVERIFY(!result.logarithmic);
        QCOMPARE(result.a.value(), 1.0);
        QCOMPARE(result.difference.value(), 2.0);
        QVERIFY(near(result.pValue.value(), 2 * studentT(-2 / std::sqrt(2.0 / 3), 4)));
        const auto fromZero = compareRuns(runs({0, 0, 0}), runs({0.5, 0.6, 0.7}));
        QVERIFY(!fromZero.difference && !fromZero.interval);
        QVERIFY(fromZero.pValue.value() < 0.05);
        QVERIFY(!runsForMargin(fromZero, 0.03));
    }

    void noSpread() {
        const auto same = compareRuns(runs({5, 5, 5}), runs({5, 5, 5}));
        QCOMPARE(same.difference.value(), 0.0);
        QVERIFY((same.interval.value() == Interval{0, 0}));
        QCOMPARE(same.pValue.value(), 1.0);
        const auto other = compareRuns(runs({5, 5, 5}), runs({6, 6, 6}));
        QCOMPARE(other.pValue.value(), 0.0);
        QVERIFY(near(other.interval->low, 0.2) && near(other.interval->high, 0.2));
        // Two equal values an arm may be an accident.
        QVERIFY(!compareRuns(runs({5, 5}), runs({6, 6})).pValue);
        QVERIFY(!compareRuns(runs({5, 5}), runs({6, 6})).interval);
    }

    void tooFewRuns() {
        const auto one = compareRuns(runs({0.1}), runs({0.3}));
        QCOMPARE(one.a.value(), 0.1);
        QCOMPARE(one.b.value(), 0.3);
        QVERIFY(near(one.difference.value(), 2));
        QVERIFY(!one.interval && !one.pValue && !one.spread);
        const auto none = compareRuns({}, runs({1, 2}));
        QVERIFY(!none.a && none.b && !none.difference && !none.interval);
        QVERIFY(!compareRuns({}, {}).b);
        // Two pairs: one degree of freedom.
        const Runs a{{10, 1}, {20, 2}};
        const Runs b{{11, 1}, {23, 2}};
        QCOMPARE(compareRuns(a, b).freedom, 1.0);
        QVERIFY(compareRuns(a, b).interval);
    }

    /// 5 % of 4,000 is 200, with a standard deviation of 14.
    void holdsItsLevel() {
        for (const bool blocks : {false, true}) {
            for (const double spreadB : {0.05, 0.15}) {
                const int count = found(1, blocks, spreadB);
                QVERIFY2(count >= 130 && count <= 245, qPrintable(QString("%1").arg(count)));
            }
        }
    }

    void runsNeededFindTheMargin() {
        // Whoever follows the advice finds the margin in 80 % of cases: simulated with the spread that is really there.
        std::mt19937_64 random(5);
        std::normal_distribution<double> normal;
        RunComparison known;
        known.logarithmic = true;
        known.runsA = known.runsB = 5;
        known.blocks = 1;
        known.spread = 0.04;
        const auto needed = runsForMargin(known, 0.03);
        QVERIFY(needed && *needed > 20 && *needed < 40);
        int count = 0;
        for (int i = 0; i < 1'000; ++i) {
            Runs a, b;
            for (std::int64_t run = 0; run < *needed; ++run) {
                a.push_back({std::exp(0.04 * normal(random)), 0});
                b.push_back({1.03 * std::exp(0.04 * normal(random)), 0});
            }
            if (compareRuns(a, b).pValue.value_or(1) <= 0.05) ++count;
        }
        QVERIFY2(count >= 770 && count <= 850, qPrintable(QString("%1").arg(count)));
    }

    void runsNeededAtTheEdges() {
        RunComparison comparison;
        QVERIFY(!runsForMargin(comparison, 0.03));
        comparison.spread = 0.0;
        comparison.logarithmic = true;
        comparison.runsA = comparison.blocks = 5;
        QCOMPARE(runsForMargin(comparison, 0.03).value(), 2);
        comparison.spread = 100;
        QVERIFY(!runsForMargin(comparison, 0.03));
        comparison.spread = 0.04;
        const auto pairs = runsForMargin(comparison, 0.03);
        comparison.blocks = 1;
        QVERIFY(pairs.value() > runsForMargin(comparison, 0.03).value());  // fewer degrees of freedom
        QVERIFY(runsForMargin(comparison, 0.03, 0.001).value() > pairs.value());
    }
};

FIRSTTOKEN_TEST_CLASS(TestCompareRuns);
#include "test_compare_runs.moc"
