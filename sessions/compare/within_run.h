#pragma once

#include <vector>

#include "engine/statistics.h"
#include "sessions/compare/compared_metrics.h"

namespace firsttoken::sessions {

/// What the figures of one run might have been, had its blocks of neighbouring requests come in other numbers.
/// [compared metric][resample]; empty where the run is too short to tell. Always the same for the same run and seed.
std::vector<std::vector<double>> withinRunResamples(const SessionData& session, const Yardstick& yardstick,
                                                    std::uint64_t seed);

}  // namespace firsttoken::sessions
