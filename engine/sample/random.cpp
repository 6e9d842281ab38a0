#include "engine/sample/random.h"

namespace firsttoken::engine {

namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32U); }

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = std::uint64_t{0xD2511F53U} * counter[0];
        const std::uint64_t second = std::uint64_t{0xCD9E8D57U} * counter[2];
        counter = {high(second) ^ counter[1] ^ key[0], low(second), high(first) ^ counter[3] ^ key[1], low(first)};
        key[0] += 0x9E3779B9U;
        key[1] += 0xBB67AE85U;
    }
    return counter;
}

double counterUniform(std::uint64_t seed, std::uint64_t index) {
    const auto block = philox4x32({low(index), high(index), 0, 0}, {low(seed), high(seed)});
    const std::uint64_t bits = (std::uint64_t{block[1]} << 32U) | block[0];
    return static_cast<double>(bits >> 11U) * 0x1p-53;
}

}  // namespace firsttoken::engine
