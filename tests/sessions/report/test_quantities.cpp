#include <QtTest>
#include <cmath>
#include <limits>

#include "sessions/report/quantities.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::sessions;
using namespace std::string_literals;

class TestQuantities : public QObject {
    Q_OBJECT

private slots:
    void threeDigits() {
        const std::pair<double, const char*> cases[] = {{0, "0"},          {212.4, "212"},         {41.26, "41.3"},
                                                        {1.234, "1.23"},   {0.0532, "0.053"},      {0.00012, "0.00012"},
                                                        {1234.5, "1,234"}, {9999999, "9,999,999"}, {-1234.5, "-1,234"},
                                                        {99.97, "100"},    {9.998, "10.0"},        {1e15, "1e+15"},
                                                        {-0.5, "-0.500"}};
        for (const auto& [value, text] : cases) QCOMPARE(formatNumber(value), std::string(text));
    }

    void roundNumbersHaveNoZerosAtTheirEnd() {
        QCOMPARE(formatRound(650), "650"s);
        QCOMPARE(formatRound(50), "50"s);
        QCOMPARE(formatRound(0.5), "0.5"s);
        QCOMPARE(formatRound(2.5), "2.5"s);
        QCOMPARE(formatRound(1000), "1,000"s);
        QCOMPARE(formatRound(0), "0"s);
        QCOMPARE(formatLimit(60, "ms"), "60\u00A0ms"s);
    }

    void counts() {
        QCOMPARE(formatCount(0), "0"s);
        QCOMPARE(formatCount(999), "999"s);
        QCOMPARE(formatCount(100000), "100,000"s);
        QCOMPARE(formatCount(-1234567), "-1,234,567"s);
        QCOMPARE(formatCount(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808"s);
    }

    void unitsFollow() {
        QCOMPARE(formatValue(212.4, "ms"), "212\u00A0ms"s);
        QCOMPARE(formatValue(0.0, "tok/s"), "0\u00A0tok/s"s);  // measured, and none
        QCOMPARE(formatShare(0.4131), "41.3\u00A0%"s);
        QCOMPARE(formatBytes(0), "0\u00A0B"s);
        QCOMPARE(formatBytes(253'000'000), "241\u00A0MiB"s);
        QCOMPARE(formatBytes(std::numeric_limits<std::uint64_t>::max()), "16.0\u00A0EiB"s);
        QCOMPARE(formatSeconds(12.44), "12.4\u00A0s"s);
        QCOMPARE(formatSeconds(200), "3\u00A0min 20\u00A0s"s);
        QCOMPARE(formatSeconds(7500), "2\u00A0h 5\u00A0min"s);
        QCOMPARE(formatChange(0.0421), "+4.2\u00A0%"s);
        QCOMPARE(formatChange(-0.5), "−50.0\u00A0%"s);
        QCOMPARE(formatChange(0.0001), "0.0\u00A0%"s);
    }

    void unknownIsSaid() {
        const std::string unknown(notMeasured);
        const double nan = std::nan("");
        QCOMPARE(formatValue(std::nullopt, "ms"), unknown);
        QCOMPARE(formatValue(nan, "ms"), unknown);
        QCOMPARE(formatShare(std::nullopt), unknown);
        QCOMPARE(formatNumber(std::numeric_limits<double>::infinity()), unknown);
        QCOMPARE(formatEstimate({}), unknown);
        QCOMPARE(formatEstimate({212.0, std::nullopt}), "212 (not enough data)"s);
        QCOMPARE(formatEstimate({212.0, firsttoken::engine::QuantileInterval{198, 240, 1, 2}}), "212 (198 to 240)"s);
    }

    void moments() {
        QCOMPARE(formatMoment(1'767'225'600.25), "2026-01-01 00:00:00 UTC"s);
        for (const double none : {0.0, -5.0, 1e18, std::nan("")})
            QCOMPARE(formatMoment(none), std::string(notMeasured));
    }
};

FIRSTTOKEN_TEST_CLASS(TestQuantities);
#include "test_quantities.moc"
