#include <QtTest>
#include <cmath>
#include <random>

#include "engine/statistics.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestBlockBootstrap : public QObject {
    Q_OBJECT

    /// Log-normal values whose neighbours are alike, in equal blocks.
    static BlockedValues run(std::mt19937_64& random, std::size_t blocks, std::size_t each) {
        std::normal_distribution<double> normal;
        BlockedValues blocked;
        double state = normal(random);
        for (std::size_t i = 0; i < blocks * each; ++i) {
            state = 0.6 * state + 0.8 * normal(random);
            blocked.values.push_back(std::exp(0.5 * state));
            if ((i + 1) % each == 0) blocked.blockEnds.push_back(i + 1);
        }
        return blocked;
    }

private slots:
    void sameSeedSameResamples() {
        std::mt19937_64 random(1);
        const auto blocked = run(random, 10, 30);
        const std::vector<double> quantiles{0.5, 0.95};
        const auto once = bootstrapQuantiles(blocked, quantiles, 50, 7);
        QCOMPARE(once.size(), std::size_t{2});
        QCOMPARE(once[0].size(), std::size_t{50});
        QVERIFY(once == bootstrapQuantiles(blocked, quantiles, 50, 7));
        QVERIFY(once != bootstrapQuantiles(blocked, quantiles, 50, 8));
    }

    void blocksStayWhole() {
        // Two blocks, each of one value: a resample's median is one of the two.
        const BlockedValues blocked{{1, 1, 1, 9, 9, 9}, {3, 6}};
        const std::vector<double> quantiles{0.5};
        const auto resampled = bootstrapQuantiles(blocked, quantiles, 100, 1);
        QCOMPARE(resampled.size(), std::size_t{1});
        for (const double value : resampled.front()) {
            QVERIFY(value == 1 || value == 9);
        }
    }

    void manyValuesAreBinned() {
        std::mt19937_64 random(2);
        const auto blocked = run(random, 40, 1'000);
        const std::vector<double> quantiles{0.5, 0.99};
        const auto resampled = bootstrapQuantiles(blocked, quantiles, 400, 3);
        for (std::size_t q = 0; q < quantiles.size(); ++q) {
            const double whole = percentile(blocked.values, quantiles[q]).value();
            QVERIFY(std::abs(median(resampled[q]).value() / whole - 1) < 0.02);
        }
    }

    /// The intervals of 300 comparisons of two equal runs hold no difference in about 95 %: with neighbours alike,
    /// and few blocks, somewhat less.
    void coverage() {
        std::mt19937_64 random(4);
        int covered = 0;
        const std::vector<double> quantiles{0.5};
        for (int i = 0; i < 300; ++i) {
            const auto a = bootstrapQuantiles(run(random, 20, 20), quantiles, 300, 1);
            const auto b = bootstrapQuantiles(run(random, 20, 20), quantiles, 300, 2);
            const auto interval = bootstrapDifference(a[0], b[0]);
            if (interval->low <= 0 && interval->high >= 0) ++covered;
        }
        QVERIFY2(covered >= 264 && covered <= 296, qPrintable(QString("%1").arg(covered)));
    }

    void ratios() {
        const std::vector<double> tokens{10, 20, 30};
        const std::vector<double> seconds{1, 2, 3};
        for (const double rate : bootstrapRatios(tokens, seconds, 100, 1)) QVERIFY(std::abs(rate - 10) < 1e-12);
        QVERIFY(bootstrapRatios(tokens, std::vector<double>{0, 0, 0}, 10, 1).empty());
    }

    void nothing() {
        const std::vector<double> quantiles{0.5};
        QVERIFY(bootstrapQuantiles({}, quantiles, 10, 1).empty());
        QVERIFY(bootstrapQuantiles({{1, 2}, {2}}, quantiles, 10, 1).empty());
        QVERIFY(bootstrapRatios({}, {}, 10, 1).empty());
        QVERIFY(!bootstrapDifference({}, {}));
        QVERIFY(!bootstrapDifference(std::vector<double>{0, 1}, std::vector<double>{1, 1}));
    }
};

FIRSTTOKEN_TEST_CLASS(TestBlockBootstrap);
#include "test_block_bootstrap.moc"
