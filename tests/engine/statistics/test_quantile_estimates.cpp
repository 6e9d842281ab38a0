#include <QtTest>
#include <random>

#include "engine/statistics.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestQuantileEstimates : public QObject {
    Q_OBJECT

private slots:
    void sameAsOneByOne() {
        std::mt19937 random(3);
        const std::vector<double> quantiles{0.99, 0.5, 0.95, 0.0, 1.0, 0.5};
        for (const std::size_t count : {1U, 2U, 3U, 71U, 72U, 400U, 5'000U}) {
            std::vector<double> values(count);
            for (double& value : values) value = static_cast<double>(random() % 300);  // with ties
            const auto estimates = quantileEstimates(values, quantiles);
            QCOMPARE(estimates.size(), quantiles.size());
            for (std::size_t i = 0; i < quantiles.size(); ++i) {
                QCOMPARE(estimates[i].value.value(), percentile(values, quantiles[i]).value());
                QVERIFY(estimates[i].interval == quantileInterval(values, quantiles[i]));
            }
        }
    }

    void nothing() {
        const std::vector<double> quantiles{0.5, 2.0};
        const auto none = quantileEstimates({}, quantiles);
        QVERIFY(!none[0].value && !none[0].interval);
        const auto some = quantileEstimates({1, 2}, quantiles);
        QCOMPARE(some[0].value.value(), 1.5);
        QVERIFY(!some[1].value);
    }
};

FIRSTTOKEN_TEST_CLASS(TestQuantileEstimates);
#include "test_quantile_estimates.moc"
