#pragma once

#include <cstdint>
#include <optional>

namespace firsttoken::sessions {

enum class LoadPhase { Planning, HashingModel, Running, Finished };

/// How far a load session is. Figures are of all requests so far, warm-up included; the stored session says it better.
struct LoadProgress {
    LoadPhase phase = LoadPhase::Planning;
    std::int64_t elapsedNs = 0;              ///< since the load's start
    std::optional<std::int64_t> planned;     ///< requests; none where only a duration limits a closed loop
    std::optional<std::int64_t> durationNs;  ///< of the arrivals, where the workload limits it
    std::int64_t sent = 0;
    std::int64_t running = 0;                    ///< sent and not ended, queued ones included
    std::int64_t done = 0;                       ///< completed + failed + cancelled
    std::int64_t completed = 0;                  ///< ended by stop or length
    std::int64_t failed = 0;                     ///< rejected or error
    std::int64_t cancelled = 0;                  ///< hung up on purpose, or cancelled with the run
    std::optional<double> ttftP50Ms, ttftP95Ms;  ///< at most half a second old
    std::int64_t promptTokens = 0;               ///< of requests that were sent
    std::int64_t outputTokens = 0;
    std::optional<double> outputTokensPerS;  ///< mean since the start
    bool operator==(const LoadProgress&) const = default;
};

}  // namespace firsttoken::sessions
