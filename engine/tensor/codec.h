#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "engine/tensor/format.h"

namespace firsttoken::engine {

/// What a format is to this room: its traits, and how `blocks` blocks are read and written. A new format is one of
/// these, its enumerator, and its line in codecFor().
struct Codec {
    FormatTraits traits;
    void (*decode)(const std::byte* source, float* values, std::size_t blocks);
    void (*encode)(const float* values, std::byte* target, std::size_t blocks);
};

extern const Codec f32Codec, f16Codec, bf16Codec;    // float_formats.cpp
extern const Codec q4_0Codec, q5_0Codec, q8_0Codec;  // block32_formats.cpp
extern const Codec q4_kCodec, q5_kCodec;             // affine_k_formats.cpp
extern const Codec q6_kCodec;                        // symmetric_k_formats.cpp

/// Blocks have no alignment beyond a byte's.
template <class T>
T loadAs(const std::byte* source) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, source, sizeof value);
    return value;
}
template <class T>
void storeAs(std::byte* target, T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(target, &value, sizeof value);
}

inline float loadHalf(const std::byte* source) { return halfToFloat(loadAs<std::uint16_t>(source)); }
/// A block's scale: at most the greatest finite half, as an infinite scale would make every value of the block NaN.
/// Returns what was stored.
inline float storeScale(std::byte* target, float scale) {
    constexpr float greatest = 65504.0F;
    const std::uint16_t half = floatToHalf(scale > greatest ? greatest : scale < -greatest ? -greatest : scale);
    storeAs(target, half);
    return halfToFloat(half);
}
/// 1 / scale; 0 for scales so small that the inverse is not finite.
inline float inverseScale(float scale) {
    constexpr float least = 1e-37F;
    return scale > least || scale < -least ? 1.0F / scale : 0.0F;
}

}  // namespace firsttoken::engine
