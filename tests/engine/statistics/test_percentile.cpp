#include <QtTest>
#include <random>

#include "engine/statistics.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestPercentile : public QObject {
    Q_OBJECT

private slots:
    void nothing() {
        QVERIFY(!mean({}));
        QVERIFY(!percentile({}, 0.5));
        QVERIFY(!median({}));
        const std::vector<double> one = {1};
        for (const double bad : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) QVERIFY(!percentile(one, bad));
    }

    void oneValue() {
        const std::vector<double> one = {7};
        for (const double q : {0.0, 0.3, 1.0}) QCOMPARE(percentile(one, q).value(), 7.0);
        QCOMPARE(mean(one).value(), 7.0);
    }

    void linearBetweenOrderStatistics() {
        const std::vector<double> values = {40, 10, 30, 20};
        QCOMPARE(percentile(values, 0).value(), 10.0);
        QCOMPARE(percentile(values, 1).value(), 40.0);
        QCOMPARE(median(values).value(), 25.0);
        QCOMPARE(percentile(values, 0.25).value(), 17.5);
        QCOMPARE(percentile(values, 0.95).value(), 38.5);
        QCOMPARE(percentile(values, 1.0 / 3).value(), 20.0);
    }

    void equalValuesGiveExactlyTheirValue() {
        const std::vector<double> values(9, 0.1);
        for (const double q : {0.1, 0.37, 0.5, 0.95}) QCOMPARE(percentile(values, q).value(), 0.1);
    }

    void sortedAndUnsortedAgree() {
        std::mt19937 random(5);
        std::exponential_distribution<double> latency(0.01);
        std::vector<double> values(1'001);
        for (double& value : values) value = latency(random);
        auto ascending = values;
        std::sort(ascending.begin(), ascending.end());
        for (int i = 0; i <= 1'000; ++i) {
            const double q = i / 1'000.0;
            QCOMPARE(percentile(values, q).value(), percentileOfSorted(ascending, q).value());
            if (i > 0) QVERIFY(percentile(values, q).value() >= percentile(values, q - 0.001).value());
        }
    }

    void meanLosesNothing() {
        QCOMPARE(mean(std::vector<double>{1, 1e100, 1, -1e100}).value(), 0.5);
        QCOMPARE(mean(std::vector<double>(10, 0.1)).value(), 0.1);
    }
};

FIRSTTOKEN_TEST_CLASS(TestPercentile);
#include "test_percentile.moc"
