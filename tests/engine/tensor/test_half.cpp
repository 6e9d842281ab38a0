#include <QtTest>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/tensor/half.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

namespace {

/// From the definition, in double: sign, exponent, mantissa.
double halfByDefinition(std::uint32_t half) {
    const double sign = (half & 0x8000U) != 0 ? -1.0 : 1.0;
    const int exponent = static_cast<int>(half >> 10 & 31);
    const double mantissa = (half & 1023U) / 1024.0;
    if (exponent == 31) return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
    if (exponent == 0) return sign * std::ldexp(mantissa, -14);
    return sign * std::ldexp(1.0 + mantissa, exponent - 15);
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

}  // namespace

class TestHalf : public QObject {
    Q_OBJECT

private slots:
    void decodesEveryHalf() {
        for (std::uint32_t h = 0; h < 65536; ++h) {
            const float value = halfToFloat(static_cast<std::uint16_t>(h));
            const double expected = halfByDefinition(h);
            if (std::isnan(expected)) {
                QVERIFY2(std::isnan(value), qPrintable(QString::number(h, 16)));
            } else {
                QVERIFY2(static_cast<double>(value) == expected && std::signbit(value) == std::signbit(expected),
                         qPrintable(QString::number(h, 16)));
            }
        }
    }

    void everyHalfComesBack() {
        for (std::uint32_t h = 0; h < 65536; ++h) {
            const float value = halfToFloat(static_cast<std::uint16_t>(h));
            const std::uint16_t back = floatToHalf(value);
            if (std::isnan(value)) {
                QCOMPARE(back, static_cast<std::uint16_t>(h | 0x200U));
            } else {
                QCOMPARE(back, static_cast<std::uint16_t>(h));
            }
        }
    }

    /// Between each two neighbours: just below half way, half way, just above it.
    void roundsHalfWayToEven() {
        for (std::uint32_t h = 0; h < 0x7C00U; ++h) {
            const double low = halfByDefinition(h);
            const double high = h + 1 == 0x7C00U ? 65536.0 : halfByDefinition(h + 1);
            const auto middle = static_cast<float>((low + high) / 2);  // exact: one bit more than a half has
            const auto even = static_cast<std::uint16_t>((h & 1U) == 0 ? h : h + 1);
            const auto below = static_cast<std::uint16_t>(h), above = static_cast<std::uint16_t>(h + 1);
            QCOMPARE(floatToHalf(middle), even);
            QCOMPARE(floatToHalf(std::nextafter(middle, 0.0F)), below);
            QCOMPARE(floatToHalf(std::nextafter(middle, 1e30F)), above);
            QCOMPARE(floatToHalf(-middle), static_cast<std::uint16_t>(even | 0x8000U));
        }
    }

    void halfEnds() {
        const float infinity = std::numeric_limits<float>::infinity();
        QCOMPARE(floatToHalf(65519.0F), std::uint16_t{0x7BFF});
        QCOMPARE(floatToHalf(65520.0F), std::uint16_t{0x7C00});
        QCOMPARE(floatToHalf(3e38F), std::uint16_t{0x7C00});
        QCOMPARE(floatToHalf(-infinity), std::uint16_t{0xFC00});
        QCOMPARE(floatToHalf(std::numeric_limits<float>::denorm_min()), std::uint16_t{0});
        QCOMPARE(floatToHalf(-0.0F), std::uint16_t{0x8000});
        QVERIFY(std::isnan(halfToFloat(floatToHalf(std::numeric_limits<float>::signaling_NaN()))));
    }

    void bfloatIsTheUpperHalf() {
        for (std::uint32_t b = 0; b < 65536; ++b) {
            const float value = bfloatToFloat(static_cast<std::uint16_t>(b));
            QCOMPARE(bits(value), b << 16);
            if (!std::isnan(value)) QCOMPARE(floatToBfloat(value), static_cast<std::uint16_t>(b));
            if (std::isnan(value)) QVERIFY(std::isnan(bfloatToFloat(floatToBfloat(value))));
        }
    }

    void bfloatRoundsHalfWayToEven() {
        for (std::uint32_t b = 0; b < 0x7F80U; ++b) {
            const std::uint32_t middle = (b << 16) + 0x8000U;
            const auto even = static_cast<std::uint16_t>((b & 1U) == 0 ? b : b + 1);
            QCOMPARE(floatToBfloat(std::bit_cast<float>(middle)), even);
            QCOMPARE(floatToBfloat(std::bit_cast<float>(middle - 1)), static_cast<std::uint16_t>(b));
            QCOMPARE(floatToBfloat(std::bit_cast<float>(middle + 1)), static_cast<std::uint16_t>(b + 1));
        }
        QCOMPARE(floatToBfloat(std::bit_cast<float>(0x7F800001U)), std::uint16_t{0x7FC0});
    }
};

FIRSTTOKEN_TEST_CLASS(TestHalf);

#include "test_half.moc"
