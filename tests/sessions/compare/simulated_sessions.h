#pragma once

#include <cstdint>
#include <vector>

#include "sessions/session_records.h"

/// Load sessions as an engine might have run them: log-normal times whose neighbours are alike, prompts that the seed
/// chooses, and a speed that drifts from run to run.
namespace firsttoken::tests {

struct SimulatedRun {
    std::uint64_t seed = 1;   ///< of the workload: arrivals and lengths
    std::uint64_t noise = 1;  ///< of everything else
    double slowdown = 1;      ///< of every time on the engine
    double drift = 0.02;      ///< standard deviation of the logarithm of a run's speed
    std::size_t requests = 300;
    std::int64_t failEvery = 0;  ///< every n-th request fails; 0: none
};
sessions::SessionData simulatedSession(const SimulatedRun& run);

/// `count` runs; their seeds are 1, 2, … or all 1.
std::vector<sessions::SessionData> simulatedArm(std::size_t count, bool sameSeed, std::uint64_t noise,
                                                double slowdown = 1);

}  // namespace firsttoken::tests
