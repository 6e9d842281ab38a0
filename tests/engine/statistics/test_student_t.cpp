#include <QtTest>
#include <cmath>

#include "engine/statistics.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestStudentT : public QObject {
    Q_OBJECT

    static bool near(double value, double expected, double tolerance) {
        return std::abs(value - expected) <= tolerance * std::max(1.0, std::abs(expected));
    }

private slots:
    /// Two-sided 95 % and one-sided 99 % points as printed tables have them.
    void quantilesOfTheTables() {
        QVERIFY(near(studentTQuantile(0.975, 1), 12.7062, 1e-5));
        QVERIFY(near(studentTQuantile(0.975, 4), 2.776445, 1e-6));
        QVERIFY(near(studentTQuantile(0.975, 8), 2.306004, 1e-6));
        QVERIFY(near(studentTQuantile(0.99, 10), 2.763769, 1e-6));
        QVERIFY(near(studentTQuantile(0.975, 1e6), 1.959966, 1e-5));
        QVERIFY(near(studentTQuantile(0.025, 8), -2.306004, 1e-6));
        QCOMPARE(studentTQuantile(0.5, 3), 0.0);
    }

    void closedForms() {
        for (const double t : {-30.0, -2.0, -0.3, 0.0, 0.7, 1.0, 5.0}) {
            QVERIFY(near(studentT(t, 1), 0.5 + std::atan(t) / M_PI, 1e-12));
            QVERIFY(near(studentT(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-12));
        }
    }

    void inverse() {
        for (const double freedom : {0.7, 1.0, 3.5, 8.0, 200.0}) {
            for (const double p : {1e-6, 0.01, 0.3, 0.5, 0.9, 0.999}) {
                QVERIFY(near(studentT(studentTQuantile(p, freedom), freedom), p, 1e-10));
            }
        }
    }

    void tails() {
        QCOMPARE(studentT(std::numeric_limits<double>::infinity(), 4), 1.0);
        QCOMPARE(studentT(-std::numeric_limits<double>::infinity(), 4), 0.0);
        const double far = studentT(-1e6, 8);
        QVERIFY(far > 0 && far < 1e-40);
        QVERIFY(std::isnan(studentT(1, 0)));
        QVERIFY(std::isnan(studentTQuantile(1, 5)));
    }
};

FIRSTTOKEN_TEST_CLASS(TestStudentT);
#include "test_student_t.moc"
