#include "sessions/load/random_stream.h"

#include <cmath>

namespace firsttoken::sessions {

namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32U); }

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = std::uint64_t{0xD2511F53U} * counter[0];
        const std::uint64_t second = std::uint64_t{0xCD9E8D57U} * counter[2];
        counter = {high(second) ^ counter[1] ^ key[0], low(second), high(first) ^ counter[3] ^ key[1], low(first)};
        key[0] += 0x9E3779B9U;
        key[1] += 0xBB67AE85U;
    }
    return counter;
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, Draw purpose, std::uint64_t index)
    : m_key{low(seed), high(seed)}, m_counter{0, low(index), high(index), static_cast<std::uint32_t>(purpose)} {}

std::uint64_t RandomStream::bits() {
    if (!m_secondHalf) {
        m_block = philox(m_counter, m_key);
        ++m_counter[0];
    }
    const std::size_t at = m_secondHalf ? 2 : 0;
    m_secondHalf = !m_secondHalf;
    return (std::uint64_t{m_block[at + 1]} << 32U) | m_block[at];
}

double RandomStream::uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }

std::uint64_t RandomStream::below(std::uint64_t count) {
    // What is left over at the top would make small numbers likelier.
    const std::uint64_t whole = UINT64_MAX - UINT64_MAX % count;
    std::uint64_t value = bits();
    while (value >= whole) value = bits();
    return value % count;
}

double RandomStream::normal() {
    // Box and Muller; 1 − u keeps the logarithm finite.
    constexpr double twoPi = 6.283185307179586476925;
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(twoPi * uniform());
}

double RandomStream::exponential() { return -std::log(1 - uniform()); }

double RandomStream::gamma(double shape) {
    if (shape < 1) return gamma(shape + 1) * std::pow(1 - uniform(), 1 / shape);
    // Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = normal();
        const double root = 1 + c * x;
        if (root <= 0) continue;
        const double v = root * root * root;
        const double u = 1 - uniform();
        if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
}

}  // namespace firsttoken::sessions
