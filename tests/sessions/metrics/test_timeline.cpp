#include <QtTest>
#include <cmath>

#include "sessions/metrics/session_metrics.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;

class TestTimeline : public QObject {
    Q_OBJECT

    static constexpr std::int64_t ms = 1'000'000;

    /// Sent at 0, scheduled at 500, prefilled at 1500, tokens at 1500, 2500 and 3500 ms.
    static SessionData oneRequest() {
        SessionData session;
        session.header.kind = SessionKind::Load;
        RequestRecord request;
        request.number = 1;
        request.sentNs = 0;
        request.scheduledNs = 500 * ms;
        request.prefillEndNs = 1500 * ms;
        request.deltaNs = {1500 * ms, 2500 * ms, 3500 * ms};
        request.firstTokenNs = 1500 * ms;
        request.endNs = 3500 * ms;
        request.promptTokens = 120;
        request.cachedTokens = 20;
        request.outputTokens = 6;
        session.requests.push_back(request);
        return session;
    }
    static bool near(const std::optional<double>& value, double expected) {
        return value && std::abs(*value - expected) < 1e-6;
    }

private slots:
    void ratesByHand() {
        const Timeline times = timeline(oneRequest(), 1000 * ms);
        QCOMPARE(times.bucketNs, 1000 * ms);
        QCOMPARE(times.buckets.size(), std::size_t{4});
        const std::vector<double> prompts{50, 50, 0, 0};  // 100 tokens to compute within a second
        const std::vector<double> outputs{0, 2, 2, 2};
        for (std::size_t i = 0; i < 4; ++i) {
            QCOMPARE(times.buckets[i].startNs, static_cast<std::int64_t>(i) * 1000 * ms);
            QVERIFY(near(times.buckets[i].promptTokensPerS, prompts[i]));
            QVERIFY(near(times.buckets[i].outputTokensPerS, outputs[i]));
        }
        QCOMPARE(times.buckets[0].started, 1);
        QCOMPARE(times.buckets[3].ended, 1);
    }

    void statesOfRequestsWhereNoSampleTells() {
        const auto buckets = timeline(oneRequest(), 1000 * ms).buckets;
        const std::vector<double> queued{0.5, 0, 0, 0};
        const std::vector<double> prefilling{0.5, 0.5, 0, 0};
        const std::vector<double> decoding{0, 0.5, 1, 0.5};
        for (std::size_t i = 0; i < 4; ++i) {
            QVERIFY(near(buckets[i].queued, queued[i]));
            QVERIFY(near(buckets[i].prefilling, prefilling[i]));
            QVERIFY(near(buckets[i].decoding, decoding[i]));
        }
        QVERIFY(!buckets[0].deviceUse && !buckets[0].kvReferencedFraction && !buckets[0].watts);
    }

    void samplesStandForTheTimeBeforeThem() {
        SessionData session = oneRequest();
        for (std::int64_t i = 1; i <= 30; ++i) {
            SampleRecord sample;
            sample.atNs = i * 100 * ms;
            sample.queued = i <= 5 ? 4 : 0;
            sample.decoding = 2;
            sample.blocksTotal = 100;
            sample.blocksReferenced = i;
            if (i > 10) sample.deviceUse = 0.75;
            session.samples.push_back(sample);
        }
        const auto buckets = timeline(session, 1000 * ms).buckets;
        QVERIFY(near(buckets[0].queued, 2));
        QVERIFY(near(buckets[1].queued, 0));
        QVERIFY(near(buckets[2].decoding, 2));
        QVERIFY(!buckets[3].decoding);    // no sample reaches into it
        QVERIFY(!buckets[1].prefilling);  // no sample has it
        QVERIFY(near(buckets[0].kvReferencedFraction, 0.055));
        QVERIFY(!buckets[0].deviceUse);
        QVERIFY(near(buckets[1].deviceUse, 0.75));
        // A bucket that is finer than the samples has the value of the sample that covers it.
        const auto fine = timeline(session, 10 * ms).buckets;
        QVERIFY(near(fine[49].queued, 4));
        QVERIFY(near(fine[50].queued, 0));
    }

    void tokensAreNeitherLostNorAdded() {
        SessionData session = oneRequest();
        for (const std::int64_t bucketMs : {1, 7, 333, 5000}) {
            double prompts = 0, outputs = 0;
            const Timeline times = timeline(session, bucketMs * ms);
            for (const TimelineBucket& bucket : times.buckets) {
                prompts += *bucket.promptTokensPerS * static_cast<double>(times.bucketNs) / 1e9;
                outputs += *bucket.outputTokensPerS * static_cast<double>(times.bucketNs) / 1e9;
            }
            QVERIFY2(near(prompts, 100), qPrintable(QString::number(prompts, 'g', 15)));
            QVERIFY(near(outputs, 6));
        }
    }

    void bounded() {
        QVERIFY(timeline(SessionData(), 1000).buckets.empty());
        SessionData session = oneRequest();
        for (const std::int64_t bucketNs : {std::int64_t{1}, std::int64_t{0}, std::int64_t{-5}, INT64_MIN}) {
            const Timeline times = timeline(session, bucketNs);
            QVERIFY(times.buckets.size() <= static_cast<std::size_t>(mostBuckets));
            QVERIFY(times.buckets.size() > static_cast<std::size_t>(mostBuckets) / 2);
        }
        QCOMPARE(timeline(session, INT64_MAX).buckets.size(), std::size_t{1});
    }
};

FIRSTTOKEN_TEST_CLASS(TestTimeline);
#include "test_timeline.moc"
