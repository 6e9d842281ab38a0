#include <QtTest>
#include <cmath>
#include <limits>

#include "sessions/report/axis.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::sessions;

class TestAxis : public QObject {
    Q_OBJECT

    static void checkTicks(const Axis& axis, std::size_t most) {
        QVERIFY(axis.high > axis.low);
        QVERIFY(!axis.ticks.empty() && axis.ticks.size() <= most);
        for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
            QVERIFY(axis.ticks[i] >= axis.low * (1 - 1e-6) && axis.ticks[i] <= axis.high * (1 + 1e-6));
            QVERIFY(i == 0 || axis.ticks[i] > axis.ticks[i - 1]);
        }
    }

private slots:
    void linearBeginsAtZeroAndHoldsTheGreatest() {
        QCOMPARE(linearAxis(346).ticks, (std::vector<double>{0, 200, 400}));
        QCOMPARE(linearAxis(3).ticks, (std::vector<double>{0, 1, 2, 3}));
        QCOMPARE(linearAxis(0.3).high, 0.3);
        for (double greatest = 1e-9; greatest < 1e15; greatest *= 1.37) {
            const Axis axis = linearAxis(greatest);
            checkTicks(axis, 4);
            QVERIFY(axis.high >= greatest * (1 - 1e-6) && axis.high <= greatest * 3);
            QCOMPARE(axis.low, 0.0);
        }
    }

    void logarithmicHoldsBothEnds() {
        QCOMPARE(logarithmicAxis(23, 410).low, 20.0);
        QCOMPARE(logarithmicAxis(23, 410).high, 500.0);
        for (double least = 1e-3; least < 1e9; least *= 3.3) {
            for (double ratio = 1; ratio < 1e8; ratio *= 2.7) {
                const Axis axis = logarithmicAxis(least, least * ratio);
                checkTicks(axis, 4);
                QVERIFY(axis.low <= least * (1 + 1e-6));
                QVERIFY(axis.high >= std::min(least * ratio, 1e12) * (1 - 1e-6));
            }
        }
    }

    void placesAreWithinThePlot() {
        const Axis axis = logarithmicAxis(10, 1000);
        QCOMPARE(axis.place(10), 0.0);
        QCOMPARE(axis.place(100), 0.5);
        QCOMPARE(axis.place(1000), 1.0);
        QCOMPARE(axis.place(0), 0.0);
        QCOMPARE(axis.place(-5), 0.0);
        QCOMPARE(axis.place(1e30), 1.0);
        QCOMPARE(exactAxis(2, 4, 8).place(2.5), 0.25);
    }

    void timeHasRoundTicks() {
        QCOMPARE(exactAxis(0, 75.6, 8).ticks, (std::vector<double>{0, 10, 20, 30, 40, 50, 60, 70}));
        QCOMPARE(exactAxis(-1, 1, 4).ticks, (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
        QCOMPARE(exactAxis(0, 75.6, 8).high, 75.6);
    }

    void strangeNumbersGiveAnAxis() {
        constexpr double inf = std::numeric_limits<double>::infinity();
        const double nan = std::nan("");
        for (const double strange : {0.0, -1.0, inf, -inf, nan, 1e300, 1e-300}) {
            checkTicks(linearAxis(strange), 4);
            checkTicks(logarithmicAxis(strange, 10), 4);
            checkTicks(logarithmicAxis(1, strange), 4);
            checkTicks(logarithmicAxis(strange, strange), 4);
            const Axis axis = exactAxis(strange, 100, 8);
            QVERIFY(axis.high > axis.low && axis.ticks.size() <= 9);
            const double place = linearAxis(1).place(strange);
            QVERIFY(place >= 0 && place <= 1);
        }
        QVERIFY(exactAxis(5, 5, 8).high > 0);
    }
};

FIRSTTOKEN_TEST_CLASS(TestAxis);
#include "test_axis.moc"
