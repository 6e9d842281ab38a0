#include <QtTest>
#include <limits>
#include <random>

#include "sessions/store/record_blobs.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

using namespace sessions;

class TestRecordBlobs : public QObject {
    Q_OBJECT

    using Times = std::vector<std::int64_t>;

private slots:
    void knownBytes() {
        // Part of the schema: 2 values; 300 folds to 600 = 0xD8 0x04; −1 folds to 1.
        QCOMPARE(packTimes({300, 299}), std::string("\x02\xD8\x04\x01"));
        QCOMPARE(packTimes({}), std::string(1, '\0'));
        const std::vector<SpanRecord> spans = {{3, engine::Stage::Prefill, 10, 14}};
        QCOMPARE(packSpans(spans), std::string("\x01\x06\x08\x14\x08"));
    }

    void anyTimesComeBack() {
        using Limits = std::numeric_limits<std::int64_t>;
        QVERIFY(unpackTimes(packTimes({Limits::max(), Limits::min(), 0, Limits::min(), Limits::max()})) ==
                (Times{Limits::max(), Limits::min(), 0, Limits::min(), Limits::max()}));
        std::mt19937_64 random(1);
        for (int round = 0; round < 500; ++round) {
            Times times(random() % 50);
            for (auto& time : times) time = static_cast<std::int64_t>(random() >> (random() % 64));
            QVERIFY(unpackTimes(packTimes(times)) == times);
        }
    }

    void gapsOfTokensAreShort() {
        Times times;
        for (std::int64_t i = 0; i < 1000; ++i) times.push_back(5'000'000'000 + i * 20'000'000);
        QVERIFY(packTimes(times).size() <= 4 * times.size() + 8);
    }

    void anySpansComeBack() {
        std::mt19937_64 random(2);
        for (int round = 0; round < 200; ++round) {
            std::vector<SpanRecord> spans(random() % 40);
            for (auto& span : spans) {
                span = {static_cast<std::int64_t>(random()), static_cast<engine::Stage>(random() % 12),
                        static_cast<std::int64_t>(random()), static_cast<std::int64_t>(random())};
            }
            std::vector<SpanRecord> read;
            QVERIFY(unpackSpans(packSpans(spans), read));
            QVERIFY(read == spans);
        }
    }

    void damagedBytesAreRefused() {
        const auto whole = packTimes({1'000'000'000, 2'000'000'000, 3'000'000'000});
        for (std::size_t length = 0; length < whole.size(); ++length) {
            QVERIFY(!unpackTimes(std::string_view(whole).substr(0, length)));
        }
        QVERIFY(!unpackTimes(whole + '\0'));
        QVERIFY(!unpackTimes(std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01")));  // 2^64 − 1 values in no bytes
        QVERIFY(!unpackTimes(std::string("\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02")));  // more than 64 bits
        std::vector<SpanRecord> spans;
        QVERIFY(!unpackSpans(std::string("\x01\x06\x0C\x14\x08"), spans));  // stage 12
        QVERIFY(!unpackSpans(std::string("\x02\x06\x08\x14\x08"), spans));
    }

    void randomBytesNeverCrash() {
        std::mt19937_64 random(3);
        for (int round = 0; round < 20'000; ++round) {
            std::string bytes(random() % 24, '\0');
            for (auto& byte : bytes) byte = static_cast<char>(random());
            if (const auto times = unpackTimes(bytes)) QVERIFY(times->size() < bytes.size());
            std::vector<SpanRecord> spans;
            if (unpackSpans(bytes, spans)) QVERIFY(spans.size() < bytes.size());
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestRecordBlobs);

}  // namespace firsttoken::tests

#include "test_record_blobs.moc"
