#pragma once

#include <array>
#include <cstdint>

namespace firsttoken::engine {

/// Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011).
/// A pure function of counter and key. Any thread.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// The `index`-th number of the stream `seed`: uniform in [0, 1), a multiple of 2^-53.
double counterUniform(std::uint64_t seed, std::uint64_t index);

}  // namespace firsttoken::engine
