#include <array>

#include "engine/tensor/codec.h"
#include "engine/tensor/scale_search.h"

// Q6_K: 256 values, sixteen sub-blocks of 16 with a signed byte as scale: 128 bytes of low nibbles, 64 of high bit
// pairs, 16 scales, half d. value = d * scale * (code - 32). Each half of the block (128 values) is four runs of 32:
// run k has its low nibbles in bytes 32 (k & 1) … of its half, the high nibbles of them for k ≥ 2, and bits 2k, 2k + 1
// of the high bytes.
namespace firsttoken::engine {

namespace {

constexpr std::size_t superBlock = 256;
constexpr std::size_t subBlocks = 16;
constexpr std::size_t subValues = 16;
constexpr std::size_t highAt = 128, scalesAt = 192, scaleAt = 208;
constexpr std::size_t q6Bytes = 210;

void decodeQ6_K(const std::byte* source, float* values, std::size_t blocks) {
    for (std::size_t n = 0; n < blocks; ++n, source += q6Bytes, values += superBlock) {
        const float d = loadHalf(source + scaleAt);
        for (std::size_t run = 0; run < 8; ++run) {
            const std::size_t half = run / 4, k = run % 4;
            const std::byte* low = source + 64 * half + 32 * (k & 1);
            const std::byte* high = source + highAt + 32 * half;
            const int lowShift = k >= 2 ? 4 : 0, highShift = static_cast<int>(2 * k);
            for (std::size_t part = 0; part < 2; ++part) {
                const float scale = d * static_cast<float>(loadAs<std::int8_t>(source + scalesAt + 2 * run + part));
                float* out = values + 32 * run + subValues * part;
                for (std::size_t i = 0; i < subValues; ++i) {
                    const std::size_t l = subValues * part + i;
                    const int code = (std::to_integer<int>(low[l]) >> lowShift & 15) |
                                     (std::to_integer<int>(high[l]) >> highShift & 3) << 4;
                    out[i] = scale * static_cast<float>(code - 32);
                }
            }
        }
    }
}

/// Scales of the sub-blocks as signed bytes of the one with the largest magnitude (which becomes -128, so that the
/// whole range serves); returns d as the file will have it.
float encodeScales(const float* values, std::byte* target) {
    std::array<float, subBlocks> scales{};
    float extreme = 0.0F;
    for (std::size_t b = 0; b < subBlocks; ++b) {
        scales[b] = fitSymmetric<subValues>(values + b * subValues, 32.0F);
        if (std::abs(scales[b]) > std::abs(extreme)) extreme = scales[b];
    }
    const float step = -extreme / 128.0F;
    const float inverse = inverseScale(step);
    for (std::size_t b = 0; b < subBlocks; ++b) {
        const int code = nearestCode(scales[b] * inverse + 128.0F, 255.0F) - 128;
        storeAs(target + scalesAt + b, static_cast<std::int8_t>(code));
    }
    return storeScale(target + scaleAt, step);
}

void encodeQ6_K(const float* values, std::byte* target, std::size_t blocks) {
    for (std::size_t n = 0; n < blocks; ++n, target += q6Bytes, values += superBlock) {
        const float d = encodeScales(values, target);
        std::array<std::uint32_t, superBlock> codes;
        for (std::size_t b = 0; b < subBlocks; ++b) {
            const float inverse = inverseScale(d * static_cast<float>(loadAs<std::int8_t>(target + scalesAt + b)));
            for (std::size_t i = b * subValues; i < (b + 1) * subValues; ++i) {
                codes[i] = static_cast<std::uint32_t>(nearestCode(values[i] * inverse + 32.0F, 63.0F));
            }
        }
        for (std::size_t half = 0; half < 2; ++half) {
            const std::uint32_t* c = codes.data() + 128 * half;
            for (std::size_t l = 0; l < 32; ++l) {
                target[64 * half + l] = static_cast<std::byte>((c[l] & 15) | (c[l + 64] & 15) << 4);
                target[64 * half + 32 + l] = static_cast<std::byte>((c[l + 32] & 15) | (c[l + 96] & 15) << 4);
                target[highAt + 32 * half + l] =
                    static_cast<std::byte>(c[l] >> 4 | c[l + 32] >> 4 << 2 | c[l + 64] >> 4 << 4 | c[l + 96] >> 4 << 6);
            }
        }
    }
}

}  // namespace

const Codec q6_kCodec{{"Q6_K", 256, q6Bytes, false}, decodeQ6_K, encodeQ6_K};

}  // namespace firsttoken::engine
