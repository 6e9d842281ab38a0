#include <QtTest>
#include <cmath>

#include "engine/statistics.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestHistogram : public QObject {
    Q_OBJECT

private slots:
    void linear() {
        const auto bins = histogram(std::vector<double>{0, 1, 2, 2.5, 4, 10}, 5);
        QCOMPARE(bins.edges, (std::vector<double>{0, 2, 4, 6, 8, 10}));
        QCOMPARE(bins.counts, (std::vector<std::int64_t>{2, 2, 1, 0, 1}));
    }

    void logarithmic() {
        const auto bins = histogram(std::vector<double>{0, -3, 1, 5, 10, 99, 1000}, 3, Scale::Logarithmic);
        QCOMPARE(bins.edges.size(), std::size_t{4});
        QCOMPARE(bins.edges.front(), 1.0);
        QVERIFY(std::abs(bins.edges[1] - 10) < 1e-9);
        QCOMPARE(bins.edges.back(), 1000.0);
        QCOMPARE(bins.counts[0] + bins.counts[1] + bins.counts[2], std::int64_t{7});
        QVERIFY(bins.counts[0] >= 4);  // 0 and less are in the first bin
    }

    void oddSamples() {
        QVERIFY(histogram({}, 4).counts.empty());
        QVERIFY(histogram(std::vector<double>{1}, 0).counts.empty());
        const auto equal = histogram(std::vector<double>{3, 3, 3}, 8);
        QCOMPARE(equal.edges, (std::vector<double>{3, 3}));
        QCOMPARE(equal.counts, (std::vector<std::int64_t>{3}));
        const auto zeros = histogram(std::vector<double>{0, 0}, 8, Scale::Logarithmic);
        QCOMPARE(zeros.counts, (std::vector<std::int64_t>{2}));
    }
};

FIRSTTOKEN_TEST_CLASS(TestHistogram);
#include "test_histogram.moc"
