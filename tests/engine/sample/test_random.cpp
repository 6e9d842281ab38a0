#include <QtTest>
#include <set>

#include "engine/sample/random.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;

class TestRandom : public QObject {
    Q_OBJECT

private slots:
    /// The known answers that the authors of Philox publish.
    void philoxKnownAnswers() {
        using Block = std::array<std::uint32_t, 4>;
        QVERIFY(
            (engine::philox4x32({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
        QVERIFY((engine::philox4x32({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}) ==
                 Block{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
        QVERIFY((engine::philox4x32({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}) ==
                 Block{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
    }

    void uniformFillsTheInterval() {
        constexpr int draws = 100'000;
        std::array<int, 10> tenths{};
        std::set<double> distinct;
        double sum = 0;
        for (int i = 0; i < draws; ++i) {
            const double u = engine::counterUniform(42, static_cast<std::uint64_t>(i));
            QVERIFY(u >= 0 && u < 1);
            ++tenths[static_cast<std::size_t>(u * 10)];
            distinct.insert(u);
            sum += u;
        }
        QCOMPARE(distinct.size(), std::size_t{draws});
        QVERIFY(std::abs(sum / draws - 0.5) < 0.005);
        for (const int count : tenths) QVERIFY(std::abs(count - draws / 10) < 500);
    }

    void seedAndIndexDecide() {
        QCOMPARE(engine::counterUniform(7, 3), engine::counterUniform(7, 3));
        std::set<double> values;
        for (std::uint64_t high : {0ULL, 1ULL << 32U, 1ULL << 63U}) {
            for (std::uint64_t low = 0; low < 50; ++low) {
                values.insert(engine::counterUniform(high + low, 0));
                values.insert(engine::counterUniform(123456, high + low));
            }
        }
        QCOMPARE(values.size(), std::size_t{300});
    }
};

FIRSTTOKEN_TEST_CLASS(TestRandom);
#include "test_random.moc"
