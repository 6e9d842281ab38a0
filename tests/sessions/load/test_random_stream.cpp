#include <QtTest>
#include <cmath>
#include <set>

#include "sessions/load/random_stream.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::sessions;

namespace {

struct Moments {
    double mean = 0, variance = 0;
};
template <class Draw>
Moments momentsOf(int count, const Draw& draw) {
    double sum = 0, squares = 0;
    for (int i = 0; i < count; ++i) {
        const double value = draw();
        sum += value;
        squares += value * value;
    }
    const double mean = sum / count;
    return {mean, squares / count - mean * mean};
}
constexpr int count = 200'000;

}  // namespace

class TestRandomStream : public QObject {
    Q_OBJECT
private slots:
    void bitsAreThoseOfThePaper() {
        // Known answer of philox4x32-10 for counter 0 and key 0, published with the paper's library.
        RandomStream stream(0, Draw{0}, 0);
        QCOMPARE(stream.bits(), 0xe169c58d6627e8d5ULL);
        QCOMPARE(stream.bits(), 0x9b00dbd8bc57ac4cULL);
    }
    void streamsDiffer() {
        std::set<std::uint64_t> first;
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            for (std::uint32_t purpose = 1; purpose < 12; ++purpose) {
                for (std::uint64_t index = 0; index < 100; ++index) {
                    first.insert(RandomStream(seed, Draw{purpose}, index).bits());
                }
            }
        }
        QCOMPARE(first.size(), std::size_t{4 * 11 * 100});
    }
    void belowIsEven() {
        RandomStream stream(7, Draw::PromptText, 1);
        std::array<int, 5> seen{};
        for (int i = 0; i < count; ++i) ++seen[stream.below(5)];
        for (const int times : seen) QVERIFY(std::abs(times - count / 5) < 1000);
    }
    void distributionsHaveTheirMoments() {
        RandomStream stream(3, Draw::Arrival, 0);
        const Moments uniform = momentsOf(count, [&] { return stream.uniform(); });
        QVERIFY(std::abs(uniform.mean - 0.5) < 0.005 && std::abs(uniform.variance - 1.0 / 12) < 0.002);
        const Moments normal = momentsOf(count, [&] { return stream.normal(); });
        QVERIFY(std::abs(normal.mean) < 0.01 && std::abs(normal.variance - 1) < 0.02);
        const Moments exponential = momentsOf(count, [&] { return stream.exponential(); });
        QVERIFY(std::abs(exponential.mean - 1) < 0.01 && std::abs(exponential.variance - 1) < 0.05);
        for (const double shape : {0.2, 1.0, 4.0}) {
            const Moments gamma = momentsOf(count, [&] { return stream.gamma(shape); });
            QVERIFY2(std::abs(gamma.mean / shape - 1) < 0.02, qPrintable(QString::number(gamma.mean)));
            QVERIFY2(std::abs(gamma.variance / shape - 1) < 0.06, qPrintable(QString::number(gamma.variance)));
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestRandomStream);
#include "test_random_stream.moc"
