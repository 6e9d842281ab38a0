#include <algorithm>
#include <cmath>

#include "engine/tensor/codec.h"

// Blocks of 32 values with one scale. "Split-nibble order": value j of the first half is the low nibble of byte j,
// value j of the second half the high one.
namespace firsttoken::engine {

namespace {

constexpr std::size_t blockValues = 32;
constexpr std::size_t halfBlock = 16;

/// The value of largest magnitude, with its sign; the first one where several are equal.
float extreme(const float* values) {
    float found = 0.0F;
    for (std::size_t i = 0; i < blockValues; ++i) {
        if (std::abs(values[i]) > std::abs(found)) found = values[i];
    }
    return found;
}

/// The code of `scaled` (value / scale) in a range of 2 * zero codes around `zero`. The sum is positive but for
/// rounding, so that truncation rounds to nearest.
std::uint32_t codeOf(float scaled, float zero) {
    const float shifted = std::clamp(scaled + zero + 0.5F, 0.0F, 2.0F * zero - 0.5F);
    return static_cast<std::uint32_t>(shifted);
}

// Q4_0: half scale, 16 bytes of nibbles. value = (code - 8) * scale.

void decodeQ4_0(const std::byte* source, float* values, std::size_t blocks) {
    for (std::size_t b = 0; b < blocks; ++b, source += 18, values += blockValues) {
        const float scale = loadHalf(source);
        for (std::size_t j = 0; j < halfBlock; ++j) {
            const int byte = std::to_integer<int>(source[2 + j]);
            values[j] = static_cast<float>((byte & 15) - 8) * scale;
            values[j + halfBlock] = static_cast<float>((byte >> 4) - 8) * scale;
        }
    }
}

void encodeQ4_0(const float* values, std::byte* target, std::size_t blocks) {
    for (std::size_t b = 0; b < blocks; ++b, target += 18, values += blockValues) {
        const float scale = extreme(values) / -8.0F;
        const float inverse = inverseScale(scale);
        storeScale(target, scale);
        for (std::size_t j = 0; j < halfBlock; ++j) {
            const std::uint32_t low = codeOf(values[j] * inverse, 8.0F);
            const std::uint32_t high = codeOf(values[j + halfBlock] * inverse, 8.0F);
            target[2 + j] = static_cast<std::byte>(low | high << 4);
        }
    }
}

// Q5_0: half scale, 32 high bits (bit i of value i), 16 bytes of nibbles. value = (code - 16) * scale.

void decodeQ5_0(const std::byte* source, float* values, std::size_t blocks) {
    for (std::size_t b = 0; b < blocks; ++b, source += 22, values += blockValues) {
        const float scale = loadHalf(source);
        const auto high = loadAs<std::uint32_t>(source + 2);
        for (std::size_t j = 0; j < halfBlock; ++j) {
            const auto byte = std::to_integer<std::uint32_t>(source[6 + j]);
            const std::uint32_t first = (byte & 15) | ((high >> j & 1) << 4);
            const std::uint32_t second = (byte >> 4) | ((high >> (j + halfBlock) & 1) << 4);
            values[j] = static_cast<float>(static_cast<int>(first) - 16) * scale;
            values[j + halfBlock] = static_cast<float>(static_cast<int>(second) - 16) * scale;
        }
    }
}

void encodeQ5_0(const float* values, std::byte* target, std::size_t blocks) {
    for (std::size_t b = 0; b < blocks; ++b, target += 22, values += blockValues) {
        const float scale = extreme(values) / -16.0F;
        const float inverse = inverseScale(scale);
        storeScale(target, scale);
        std::uint32_t highBits = 0;
        for (std::size_t j = 0; j < halfBlock; ++j) {
            const std::uint32_t first = codeOf(values[j] * inverse, 16.0F);
            const std::uint32_t second = codeOf(values[j + halfBlock] * inverse, 16.0F);
            highBits |= (first >> 4) << j | (second >> 4) << (j + halfBlock);
            target[6 + j] = static_cast<std::byte>((first & 15) | (second & 15) << 4);
        }
        storeAs(target + 2, highBits);
    }
}

// Q8_0: half scale, 32 signed bytes. value = code * scale.

void decodeQ8_0(const std::byte* source, float* values, std::size_t blocks) {
    for (std::size_t b = 0; b < blocks; ++b, source += 34, values += blockValues) {
        const float scale = loadHalf(source);
        for (std::size_t j = 0; j < blockValues; ++j) {
            values[j] = static_cast<float>(loadAs<std::int8_t>(source + 2 + j)) * scale;
        }
    }
}

void encodeQ8_0(const float* values, std::byte* target, std::size_t blocks) {
    for (std::size_t b = 0; b < blocks; ++b, target += 34, values += blockValues) {
        const float scale = std::abs(extreme(values)) / 127.0F;
        const float inverse = inverseScale(scale);
        storeScale(target, scale);
        for (std::size_t j = 0; j < blockValues; ++j) {
            storeAs(target + 2 + j, static_cast<std::int8_t>(std::round(values[j] * inverse)));
        }
    }
}

}  // namespace

const Codec q4_0Codec{{"Q4_0", 32, 18, false}, decodeQ4_0, encodeQ4_0};
const Codec q5_0Codec{{"Q5_0", 32, 22, false}, decodeQ5_0, encodeQ5_0};
const Codec q8_0Codec{{"Q8_0", 32, 34, false}, decodeQ8_0, encodeQ8_0};

}  // namespace firsttoken::engine
