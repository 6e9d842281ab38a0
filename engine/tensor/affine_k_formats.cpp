#include <array>

#include "engine/tensor/codec.h"
#include "engine/tensor/scale_search.h"

// Q4_K and Q5_K: 256 values, eight sub-blocks of 32 with a scale and a minimum of six bits each.
//   Q4_K: half d, half dmin, 12 bytes of scales, 128 bytes of nibbles
//   Q5_K: half d, half dmin, 12 bytes of scales, 32 bytes of high bits (bit b of byte l: value l of sub-block b),
//   nibbles
// value = d * scale * code - dmin * minimum. Sub-blocks 2g and 2g + 1 are the low and high nibbles of bytes 32 g ….
namespace firsttoken::engine {

namespace {

constexpr std::size_t superBlock = 256;
constexpr std::size_t subBlocks = 8;
constexpr std::size_t subValues = 32;
constexpr std::size_t scaleBytes = 12;

using SixBits = std::array<std::uint8_t, subBlocks>;

struct SubScales {
    SixBits scales{};
    SixBits minimums{};
};

/// The last four sub-blocks keep four bits in bytes 8 … 11, and two in the top of bytes 0 … 7.
SubScales unpack(const std::byte* source) {
    const auto at = [source](std::size_t i) { return std::to_integer<std::uint32_t>(source[i]); };
    SubScales result;
    for (std::size_t b = 0; b < 4; ++b) {
        result.scales[b] = static_cast<std::uint8_t>(at(b) & 63);
        result.minimums[b] = static_cast<std::uint8_t>(at(b + 4) & 63);
        result.scales[b + 4] = static_cast<std::uint8_t>((at(b + 8) & 15) | at(b) >> 6 << 4);
        result.minimums[b + 4] = static_cast<std::uint8_t>(at(b + 8) >> 4 | at(b + 4) >> 6 << 4);
    }
    return result;
}

void pack(const SubScales& given, std::byte* target) {
    for (std::size_t b = 0; b < 4; ++b) {
        const std::uint32_t scale = given.scales[b + 4], minimum = given.minimums[b + 4];
        target[b] = static_cast<std::byte>(given.scales[b] | scale >> 4 << 6);
        target[b + 4] = static_cast<std::byte>(given.minimums[b] | minimum >> 4 << 6);
        target[b + 8] = static_cast<std::byte>((scale & 15) | (minimum & 15) << 4);
    }
}

/// Rounds eight non-negative numbers to six bits of the greatest; returns the step as the file will have it.
float toSixBits(const std::array<float, subBlocks>& numbers, SixBits& codes, std::byte* stored) {
    float greatest = 0.0F;
    for (const float number : numbers) greatest = std::max(greatest, number);
    const float inverse = inverseScale(greatest / 63.0F);
    for (std::size_t b = 0; b < subBlocks; ++b) {
        codes[b] = static_cast<std::uint8_t>(nearestCode(numbers[b] * inverse, 63.0F));
    }
    return storeScale(stored, greatest / 63.0F);
}

/// Fills the head of a block (d, dmin, scales) and gives each value its code under the scales as stored.
void encodeHead(const float* values, std::byte* target, const AffineSearch& search,
                std::array<std::uint8_t, superBlock>& codes) {
    std::array<float, subBlocks> scales{}, minimums{};
    for (std::size_t b = 0; b < subBlocks; ++b) {
        const AffineFit fit = fitAffine<subValues>(values + b * subValues, search);
        scales[b] = fit.scale;
        minimums[b] = fit.minimum;
    }
    SubScales sixBits;
    const float d = toSixBits(scales, sixBits.scales, target);
    const float dmin = toSixBits(minimums, sixBits.minimums, target + 2);
    pack(sixBits, target + 4);
    for (std::size_t b = 0; b < subBlocks; ++b) {
        const float inverse = inverseScale(d * static_cast<float>(sixBits.scales[b]));
        const float minimum = dmin * static_cast<float>(sixBits.minimums[b]);
        for (std::size_t i = b * subValues; i < (b + 1) * subValues; ++i) {
            codes[i] = static_cast<std::uint8_t>(nearestCode((values[i] + minimum) * inverse, search.levels));
        }
    }
}

void storeNibbles(const std::array<std::uint8_t, superBlock>& codes, std::byte* target) {
    for (std::size_t group = 0; group < subBlocks / 2; ++group) {
        for (std::size_t l = 0; l < subValues; ++l) {
            const std::uint32_t low = codes[64 * group + l] & 15U;
            const std::uint32_t high = codes[64 * group + subValues + l] & 15U;
            target[32 * group + l] = static_cast<std::byte>(low | high << 4);
        }
    }
}

void decodeQ4_K(const std::byte* source, float* values, std::size_t blocks) {
    for (std::size_t n = 0; n < blocks; ++n, source += 144, values += superBlock) {
        const float d = loadHalf(source), dmin = loadHalf(source + 2);
        const SubScales sub = unpack(source + 4);
        for (std::size_t b = 0; b < subBlocks; ++b) {
            const float scale = d * static_cast<float>(sub.scales[b]);
            const float minimum = dmin * static_cast<float>(sub.minimums[b]);
            const std::byte* nibbles = source + 4 + scaleBytes + 32 * (b / 2);
            const int shift = b % 2 == 0 ? 0 : 4;
            for (std::size_t l = 0; l < subValues; ++l) {
                const int code = std::to_integer<int>(nibbles[l]) >> shift & 15;
                values[b * subValues + l] = scale * static_cast<float>(code) - minimum;
            }
        }
    }
}

void encodeQ4_K(const float* values, std::byte* target, std::size_t blocks) {
    for (std::size_t n = 0; n < blocks; ++n, target += 144, values += superBlock) {
        std::array<std::uint8_t, superBlock> codes;
        encodeHead(values, target, {15.0F, -1.0F, 20}, codes);
        storeNibbles(codes, target + 4 + scaleBytes);
    }
}

void decodeQ5_K(const std::byte* source, float* values, std::size_t blocks) {
    for (std::size_t n = 0; n < blocks; ++n, source += 176, values += superBlock) {
        const float d = loadHalf(source), dmin = loadHalf(source + 2);
        const SubScales sub = unpack(source + 4);
        const std::byte* high = source + 4 + scaleBytes;
        for (std::size_t b = 0; b < subBlocks; ++b) {
            const float scale = d * static_cast<float>(sub.scales[b]);
            const float minimum = dmin * static_cast<float>(sub.minimums[b]);
            const std::byte* nibbles = high + 32 + 32 * (b / 2);
            const int shift = b % 2 == 0 ? 0 : 4;
            for (std::size_t l = 0; l < subValues; ++l) {
                const int low = std::to_integer<int>(nibbles[l]) >> shift & 15;
                const int code = low | (std::to_integer<int>(high[l]) >> b & 1) << 4;
                values[b * subValues + l] = scale * static_cast<float>(code) - minimum;
            }
        }
    }
}

void encodeQ5_K(const float* values, std::byte* target, std::size_t blocks) {
    for (std::size_t n = 0; n < blocks; ++n, target += 176, values += superBlock) {
        std::array<std::uint8_t, superBlock> codes;
        encodeHead(values, target, {31.0F, -0.5F, 15}, codes);
        std::byte* high = target + 4 + scaleBytes;
        for (std::size_t l = 0; l < subValues; ++l) {
            std::uint32_t bits = 0;
            for (std::size_t b = 0; b < subBlocks; ++b) bits |= (codes[b * subValues + l] >> 4 & 1U) << b;
            high[l] = static_cast<std::byte>(bits);
        }
        storeNibbles(codes, high + 32);
    }
}

}  // namespace

const Codec q4_kCodec{{"Q4_K", 256, 144, false}, decodeQ4_K, encodeQ4_K};
const Codec q5_kCodec{{"Q5_K", 256, 176, false}, decodeQ5_K, encodeQ5_K};

}  // namespace firsttoken::engine
