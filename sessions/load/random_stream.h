#pragma once

#include <array>
#include <cstdint>

namespace firsttoken::sessions {

/// What a stream of random numbers is for. Each purpose of each request has a stream of its own, so that changing one
/// setting of a workload leaves every other draw as it was. Never renumber: stored seeds mean these numbers.
enum class Draw : std::uint32_t {
    Arrival = 1,
    Think = 2,
    PromptLength = 3,
    OutputLength = 4,
    PromptText = 5,
    SharesPrefix = 6,
    PrefixGroup = 7,
    PrefixText = 8,
    HangsUp = 9,
    HangUpToken = 10,
    Sampling = 11,
};

/// Random numbers as a pure function of (seed, purpose, index, how many were drawn before): Philox 4x32 with 10 rounds
/// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). Owned by one thread; cheap to make.
class RandomStream {
public:
    RandomStream(std::uint64_t seed, Draw purpose, std::uint64_t index);

    std::uint64_t bits();
    double uniform();                          ///< [0, 1), a multiple of 2^-53
    std::uint64_t below(std::uint64_t count);  ///< 0 … count − 1; count > 0
    double normal();                           ///< mean 0, sd 1
    double exponential();                      ///< mean 1
    double gamma(double shape);                ///< mean `shape`, scale 1; shape > 0

private:
    std::array<std::uint32_t, 2> m_key;
    std::array<std::uint32_t, 4> m_counter;
    std::array<std::uint32_t, 4> m_block{};
    bool m_secondHalf = false;
};

}  // namespace firsttoken::sessions
