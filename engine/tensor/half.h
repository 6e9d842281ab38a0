#pragma once

#include <bit>
#include <cstdint>

/// IEEE binary16 and bfloat16, all values incl. subnormals, infinities and NaN (made quiet, payload kept as far as it
/// fits). Inline and without tables, so that loops over them vectorise.
namespace firsttoken::engine {

inline float halfToFloat(std::uint16_t half) {
    constexpr std::uint32_t rebias = (127U - 15U) << 23;
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t rest = (half & 0x7FFFU) << 13;
    const std::uint32_t exponent = rest & (0x1FU << 23);
    std::uint32_t bits = rest + rebias;
    if (exponent == (0x1FU << 23)) {
        bits += rebias;  // infinity and NaN
    } else if (exponent == 0) {
        // Zero and subnormals: with the least normal exponent the mantissa stands beside an implied 1; take it away.
        constexpr std::uint32_t leastNormal = rebias + (1U << 23);
        bits =
            std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest + leastNormal) - std::bit_cast<float>(leastNormal));
    }
    return std::bit_cast<float>(sign | bits);
}

/// Rounds to nearest, ties to even; 65,520 and more become infinity.
inline std::uint16_t floatToHalf(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t rest = bits & 0x7FFFFFFFU;
    std::uint32_t half = 0;
    if (rest > 0x7F800000U) {
        half = 0x7E00U | ((rest >> 13) & 0x3FFU);
    } else if (rest >= 0x477FF000U) {
        half = 0x7C00U;
    } else if (rest < 0x38800000U) {
        // Below 2^-14: the unit in the last place of 0.5f is the step of half's subnormals, so the sum rounds as
        // wanted.
        half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
    } else {
        half = (rest - ((127U - 15U) << 23) + 0xFFFU + ((rest >> 13) & 1U)) >> 13;
    }
    return static_cast<std::uint16_t>(sign | half);
}

inline float bfloatToFloat(std::uint16_t bfloat) { return std::bit_cast<float>(std::uint32_t{bfloat} << 16); }

/// Rounds to nearest, ties to even.
inline std::uint16_t floatToBfloat(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace firsttoken::engine
