#include <QtTest>

#include "engine/schedule/step_time_model.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestStepTimeModel : public QObject {
    Q_OBJECT

private slots:
    void knowsNothingAtFirst();
    void learnsALinearMachine();
    void oneOutlierMovesLittle();
    void followsAChange();
    void unvaryingDecodesAreAllBase();
    void ignoresNonsense();
};

namespace {
constexpr Nanoseconds a = 50'000'000;
constexpr Nanoseconds b = 10'000'000;
constexpr Nanoseconds c = 2'000'000;
Nanoseconds timeOf(std::uint32_t prefill, std::uint32_t decode) { return a + b * prefill + c * decode; }
bool near(double value, double wanted, double share) { return std::abs(value - wanted) <= share * wanted; }
}  // namespace

void TestStepTimeModel::knowsNothingAtFirst() {
    const StepTimeModel model;
    QVERIFY(!model.knowsDecode() && !model.knowsPrefill());
    QCOMPARE(model.prefillRowsWithin(1e9, true), 0U);
}

void TestStepTimeModel::learnsALinearMachine() {
    StepTimeModel model;
    for (std::uint32_t i = 1; i <= 20; ++i) model.observe(0, i, timeOf(0, i));
    QVERIFY(near(model.decodeStepNs(40), static_cast<double>(timeOf(0, 40)), 0.01));
    for (std::uint32_t i = 1; i <= 20; ++i) model.observe(i, 4, timeOf(i, 4));
    QVERIFY(near(model.prefillRowNs(true), static_cast<double>(b), 0.01));
    QCOMPARE(model.prefillRowsWithin(2 * model.decodeStepNs(4), true), 11U);
    for (int i = 0; i < 20; ++i) model.observe(512, 0, timeOf(512, 0));
    QVERIFY(near(model.prefillRowNs(false), static_cast<double>(b), 0.01));
}

void TestStepTimeModel::oneOutlierMovesLittle() {
    StepTimeModel model;
    for (int i = 0; i < 40; ++i) {
        model.observe(0, 1, timeOf(0, 1));
        model.observe(8, 1, timeOf(8, 1));
    }
    const double before = model.prefillRowNs(true);
    model.observe(8, 1, 1000 * timeOf(8, 1));
    QVERIFY(model.prefillRowNs(true) < 2 * before);
    model.observe(0, 1, 1000 * timeOf(0, 1));
    QVERIFY(model.decodeStepNs(1) < 1.4 * static_cast<double>(timeOf(0, 1)));
}

void TestStepTimeModel::followsAChange() {
    StepTimeModel model;
    for (int i = 0; i < 40; ++i) model.observe(64, 0, timeOf(64, 0));
    for (int i = 0; i < 40; ++i) model.observe(64, 0, 20 * timeOf(64, 0));
    QVERIFY(near(model.prefillRowNs(false), 20.0 * static_cast<double>(timeOf(64, 0)) / 64, 0.05));
}

void TestStepTimeModel::unvaryingDecodesAreAllBase() {
    StepTimeModel model;
    for (int i = 0; i < 5; ++i) model.observe(0, 16, timeOf(0, 16));
    QVERIFY(near(model.decodeStepNs(16), static_cast<double>(timeOf(0, 16)), 1e-9));
    QVERIFY(near(model.decodeStepNs(1), static_cast<double>(timeOf(0, 16)), 1e-9));
}

void TestStepTimeModel::ignoresNonsense() {
    StepTimeModel model;
    model.observe(0, 0, 1000);
    model.observe(4, 0, 0);
    model.observe(0, 4, -5);
    model.observe(4, 4, 1000);  // no decode-only step yet: cannot be told apart
    QVERIFY(!model.knowsDecode() && !model.knowsPrefill());
}

FIRSTTOKEN_TEST_CLASS(TestStepTimeModel);
#include "test_step_time_model.moc"
