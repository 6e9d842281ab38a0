#include <QtTest>

#include "engine/statistics.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestVerdict : public QObject {
    Q_OBJECT

    static RunComparison between(double low, double high) {
        RunComparison comparison;
        comparison.a = 100;
        comparison.b = 100 * (1 + (low + high) / 2);
        comparison.interval = Interval{low, high};
        return comparison;
    }

private slots:
    /// The example of the paper of 1995: 15 tests, of which four are claimed at 5 %.
    void stepUp() {
        const std::vector<double> pValues{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                          0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
        const auto adjusted = benjaminiHochberg(pValues);
        QCOMPARE(std::count_if(adjusted.begin(), adjusted.end(), [](double p) { return p <= 0.05; }), 4);
        QCOMPARE(adjusted[0], 0.0001 * 15);
        QCOMPARE(adjusted[3], 0.0095 * 15 / 4);
        QCOMPARE(adjusted[14], 1.0);
    }

    void stepUpKeepsTheOrder() {
        const auto adjusted = benjaminiHochberg(std::vector<double>{0.9, 0.01, 0.02});
        QCOMPARE(adjusted, (std::vector<double>{0.9, 0.03, 0.03}));
        QVERIFY(benjaminiHochberg({}).empty());
    }

    void judging() {
        const auto verdict = [](double low, double high, double p, Direction direction) {
            return judge(between(low, high), p, direction, 0.03);
        };
        QVERIFY(verdict(0.05, 0.2, 0.01, Direction::LowerIsBetter) == Verdict::Worse);
        QVERIFY(verdict(0.05, 0.2, 0.01, Direction::HigherIsBetter) == Verdict::Better);
        QVERIFY(verdict(-0.2, -0.05, 0.01, Direction::LowerIsBetter) == Verdict::Better);
        QVERIFY(verdict(0.05, 0.2, 0.2, Direction::LowerIsBetter) == Verdict::Undecided);  // beside too many others
        QVERIFY(verdict(-0.05, 0.2, 0.3, Direction::LowerIsBetter) == Verdict::Undecided);
        QVERIFY(verdict(0.05, 0.2, 0.01, Direction::Neutral) == Verdict::Undecided);
        // Inside the margin no difference matters, however sure it is.
        QVERIFY(verdict(0.01, 0.02, 1e-9, Direction::LowerIsBetter) == Verdict::Equivalent);
        QVERIFY(verdict(-0.03, 0.03, 0.9, Direction::Neutral) == Verdict::Equivalent);
        QVERIFY(judge({}, 0.001, Direction::LowerIsBetter, 0.03) == Verdict::Undecided);
    }

    void fromNothingToSomething() {
        RunComparison comparison;
        comparison.a = 0;
        comparison.b = 0.6;
        QVERIFY(judge(comparison, 0, Direction::HigherIsBetter, 0.03) == Verdict::Better);
    }
};

FIRSTTOKEN_TEST_CLASS(TestVerdict);
#include "test_verdict.moc"
