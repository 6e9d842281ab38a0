#include <QtTest>
#include <numeric>
#include <random>

#include "engine/statistics.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestQuantileInterval : public QObject {
    Q_OBJECT

    /// 1, 2, … count: the values are their own ranks.
    static std::vector<double> ranks(std::size_t count) {
        std::vector<double> values(count);
        std::iota(values.begin(), values.end(), 1.0);
        return values;
    }

private slots:
    void existsFromTheExactLimitOn_data() {
        QTest::addColumn<double>("quantile");
        QTest::addColumn<int>("limit");
        QTest::newRow("p50") << 0.5 << 6;
        QTest::newRow("p95") << 0.95 << 72;
        QTest::newRow("p05") << 0.05 << 72;
        QTest::newRow("p99") << 0.99 << 368;
        QTest::newRow("p99.9") << 0.999 << 3'688;
    }
    void existsFromTheExactLimitOn() {
        QFETCH(double, quantile);
        QFETCH(int, limit);
        const auto count = static_cast<std::size_t>(limit);
        QCOMPARE(valuesForInterval(quantile).value(), count);
        QVERIFY(!quantileInterval(ranks(count - 1), quantile));
        QVERIFY(quantileInterval(ranks(count), quantile).has_value());
    }

    /// Ranks of the 95 % interval of a median, from the tables of the sign test.
    void medianRanks() {
        const auto ten = quantileInterval(ranks(10), 0.5).value();
        QCOMPARE(ten, (QuantileInterval{2, 9, 2, 9}));
        const auto twenty = quantileInterval(ranks(20), 0.5).value();
        QCOMPARE(twenty, (QuantileInterval{6, 15, 6, 15}));
        const auto hundred = quantileInterval(ranks(100), 0.5).value();
        QCOMPARE(hundred, (QuantileInterval{40, 61, 40, 61}));
    }

    void largeSamplesFollowTheNormalApproximation() {
        for (const double q : {0.5, 0.95, 0.99}) {
            constexpr double n = 200'000;
            const auto interval = quantileInterval(ranks(200'000), q).value();
            const double half = 1.959964 * std::sqrt(n * q * (1 - q));
            QVERIFY(std::abs(interval.low - (n * q - half)) < 3);
            QVERIFY(std::abs(interval.high - (n * q + half)) < 3);
        }
    }

    void orderOfValuesDoesNotMatter() {
        auto values = ranks(500);
        const auto sorted = quantileInterval(values, 0.95);
        std::shuffle(values.begin(), values.end(), std::mt19937(4));
        QVERIFY(quantileInterval(values, 0.95) == sorted);
    }

    void coversAsPromised() {
        std::mt19937 random(12);
        std::lognormal_distribution<double> latency(0, 0.8);
        const double truth = std::exp(0.8 * 1.6448536269514722);  // its p95
        int covered = 0;
        constexpr int rounds = 2'000;
        for (int round = 0; round < rounds; ++round) {
            std::vector<double> values(150);
            for (double& value : values) value = latency(random);
            const auto interval = quantileInterval(values, 0.95).value();
            covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
        }
        QVERIFY(covered >= 0.945 * rounds);
    }

    void nonsenseHasNoInterval() {
        const auto values = ranks(1'000);
        for (const double bad : {0.0, 1.0, -1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
            QVERIFY(!quantileInterval(values, bad));
            QVERIFY(!quantileInterval(values, 0.5, bad));
            QVERIFY(!valuesForInterval(bad));
        }
        QVERIFY(!quantileInterval({}, 0.5));
    }
};

FIRSTTOKEN_TEST_CLASS(TestQuantileInterval);
#include "test_quantile_interval.moc"
