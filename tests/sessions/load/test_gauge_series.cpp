#include <QtTest>

#include "sessions/load/gauge_series.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;

namespace {

constexpr engine::Nanoseconds ms = 1'000'000;

engine::StepEvent stepOf(engine::Nanoseconds durationNs, std::uint32_t prefill, std::uint32_t decode) {
    engine::StepEvent step;
    step.durationNs = durationNs;
    step.prefillRows = prefill;
    step.decodeRows = decode;
    step.weightBytes = 900;
    step.kvBytesRead = 100;
    step.multiplyAdds = 5000;
    return step;
}
SampleRecord at(engine::Nanoseconds when) {
    SampleRecord sample;
    sample.atNs = when;
    return sample;
}
engine::EngineSnapshot gauges() {
    engine::EngineSnapshot snapshot;
    snapshot.queued = 3;
    snapshot.decoding = 2;
    snapshot.blocksTotal = 100;
    snapshot.blocksReferenced = 40;
    return snapshot;
}

}  // namespace

class TestGaugeSeries : public QObject {
    Q_OBJECT
private slots:
    void ratesAreSumsOverTheInterval() {
        GaugeSeries series(0);
        series.step(20 * ms, stepOf(20 * ms, 10, 2));
        series.step(60 * ms, stepOf(30 * ms, 0, 4));
        series.sample(at(100 * ms), gauges(), true);
        const auto samples = series.take(false);
        QCOMPARE(samples.size(), std::size_t{1});
        const SampleRecord& sample = samples.front();
        QCOMPARE(*sample.deviceUse, 0.5);
        QCOMPARE(*sample.prefillTokensPerS, 100.0);
        QCOMPARE(*sample.decodeTokensPerS, 60.0);
        QCOMPARE(*sample.achievedGbPerS, 2000.0 / (50.0 * ms));
        QCOMPARE(*sample.achievedTopPerS, 2 * 10000.0 / (50.0 * ms) / 1000);
        QCOMPARE(*sample.queued, std::int64_t{3});
        QCOMPARE(*sample.blocksReferenced, std::int64_t{40});
        QVERIFY(!sample.processCpu && !sample.watts);
    }
    void aLongStepIsSharedByTime() {
        GaugeSeries series(0);
        series.sample(at(100 * ms), gauges(), false);
        series.sample(at(200 * ms), gauges(), false);
        QVERIFY(series.take(false).empty());  // a step may be running that nobody has told of
        series.step(250 * ms, stepOf(200 * ms, 40, 0));
        auto samples = series.take(false);
        QCOMPARE(samples.size(), std::size_t{2});
        QCOMPARE(*samples[0].deviceUse, 0.5);
        QCOMPARE(*samples[1].deviceUse, 1.0);
        QCOMPARE(*samples[0].prefillTokensPerS, 100.0);
        QCOMPARE(*samples[1].prefillTokensPerS, 200.0);
        series.sample(at(300 * ms), gauges(), true);
        samples = series.take(false);
        QCOMPARE(samples.size(), std::size_t{1});
        QCOMPARE(*samples[0].deviceUse, 0.5);
        QCOMPARE(*samples[0].prefillTokensPerS, 100.0);
    }
    void idleIsZeroUseAndUnknownRate() {
        GaugeSeries series(0);
        series.sample(at(100 * ms), {}, true);
        const auto samples = series.take(false);
        QCOMPARE(samples.size(), std::size_t{1});
        QCOMPARE(*samples[0].deviceUse, 0.0);
        QCOMPARE(*samples[0].decodeTokensPerS, 0.0);
        QVERIFY(!samples[0].achievedGbPerS && !samples[0].achievedTopPerS);
    }
    void lostStepsMakeRatesUnknown() {
        GaugeSeries series(0);
        series.stepsLost();
        series.sample(at(100 * ms), gauges(), true);
        series.sample(at(200 * ms), gauges(), true);
        const auto samples = series.take(false);
        QCOMPARE(samples.size(), std::size_t{2});
        QVERIFY(!samples[0].deviceUse && !samples[0].decodeTokensPerS);
        QVERIFY(samples[0].decoding.has_value());
        QCOMPARE(*samples[1].deviceUse, 0.0);
    }
    void theLastOnesAreGivenOutAsTheyAre() {
        GaugeSeries series(0);
        series.sample(at(100 * ms), gauges(), false);
        QVERIFY(series.take(false).empty());
        QCOMPARE(series.take(true).size(), std::size_t{1});
        QVERIFY(series.take(true).empty());
    }
};

FIRSTTOKEN_TEST_CLASS(TestGaugeSeries);
#include "test_gauge_series.moc"
