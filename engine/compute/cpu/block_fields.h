#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

/// Byte layout of the block formats (facts: gguf_formats, sections 4 and 5), shared by every unpacking.
/// No standard container here: this header is also compiled for wider instruction sets.
namespace firsttoken::engine {

namespace q4_0 {
inline constexpr std::size_t kBytes = 18, kScale = 0, kQuants = 2;
}
namespace q5_0 {
inline constexpr std::size_t kBytes = 22, kScale = 0, kHigh = 2, kQuants = 6;
}
namespace q8_0 {
inline constexpr std::size_t kBytes = 34, kScale = 0, kQuants = 2;
}
namespace q4_k {
inline constexpr std::size_t kBytes = 144, kScale = 0, kMin = 2, kSubScales = 4, kQuants = 16;
}
namespace q5_k {
inline constexpr std::size_t kBytes = 176, kScale = 0, kMin = 2, kSubScales = 4, kHigh = 16, kQuants = 48;
}
namespace q6_k {
inline constexpr std::size_t kBytes = 210, kLow = 0, kHigh = 128, kSubScales = 192, kScale = 208;
}

static inline std::uint16_t loadHalf(const std::byte* at) {
    std::uint16_t half;
    std::memcpy(&half, at, sizeof half);
    return half;
}

static inline std::uint32_t loadWord(const std::byte* at) {
    std::uint32_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

static inline unsigned loadByte(const std::byte* at) { return static_cast<unsigned>(*at); }

/// The six-bit scale and minimum of sub-block b (0 … 7) of Q4_K and Q5_K; `packed`: 12 bytes.
struct SubScale {
    unsigned scale, minimum;
};
static inline SubScale subScale(const std::byte* packed, unsigned b) {
    if (b < 4) return {loadByte(packed + b) & 63U, loadByte(packed + b + 4) & 63U};
    const unsigned mixed = loadByte(packed + b + 4);
    return {(mixed & 15U) | ((loadByte(packed + b - 4) >> 6) << 4), (mixed >> 4) | ((loadByte(packed + b) >> 6) << 4)};
}

}  // namespace firsttoken::engine
