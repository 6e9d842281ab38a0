#include "engine/model/synthetic/random_values.h"

#include <cmath>

namespace firsttoken::engine {

namespace {

/// Odd, without pattern in its bits: steps of it visit all 2^64 states.
constexpr std::uint64_t step = 0x9E3779B97F4A7C15;

/// Every bit of the input moves half the bits of the result.
std::uint64_t scrambled(std::uint64_t bits) {
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
    return bits ^ bits >> 31;
}

}  // namespace

RandomValues::RandomValues(std::uint64_t seed, std::string_view name) : m_start(scrambled(seed + step)) {
    for (const char c : name) m_start = scrambled(m_start ^ static_cast<unsigned char>(c)) + step;
}

void RandomValues::fill(std::uint64_t first, std::span<float> values, double mean, double deviation) const {
    // Four numbers of 16 bits: their sum has this mean, and the variance 4 * (2^32 - 1) / 12.
    constexpr std::int32_t middle = 2 * 65535;
    const auto scale = static_cast<float>(deviation / std::sqrt(4294967295.0 / 3.0));
    const auto centre = static_cast<float>(mean);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint64_t bits = scrambled(m_start + (first + i) * step);
        const auto sum =
            static_cast<std::int32_t>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48));
        values[i] = centre + scale * static_cast<float>(sum - middle);
    }
}

}  // namespace firsttoken::engine
