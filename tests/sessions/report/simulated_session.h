#pragma once

#include <cstdint>
#include <string>

#include "sessions/session_records.h"

namespace firsttoken::tests {

/// A load session as a small model of an engine would have made it: requests wait, are prefilled, decode together, some
/// fail, some clients leave; samples ten times a second, marks. The same settings give the same session.
struct Simulation {
    std::int64_t id = 1;
    std::string title = "chat: 120 requests, Poisson at 2.0/s";
    std::int64_t requests = 120;
    double ratePerS = 2;
    double promptTokens = 160, outputTokens = 80;
    std::int64_t sequences = 16;  ///< at once
    double speed = 1;             ///< 2: steps take half as long
    std::int64_t warmup = 8;      ///< requests
    double failShare = 0.02, leaveShare = 0.04;
    std::uint64_t seed = 1;
    bool machineIsKnown = true;  ///< CPU, GB/s and watts are in the samples
};
sessions::SessionData simulate(const Simulation& simulation);

}  // namespace firsttoken::tests
