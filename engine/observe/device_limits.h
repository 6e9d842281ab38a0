#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/device.h"

namespace firsttoken::engine {

struct LimitsEffort {
    std::size_t bufferBytes = 0;          ///< read; larger than the caches
    std::chrono::milliseconds each{200};  ///< measuring time of each limit
};
/// measureLimits() with its effort given.
DeviceLimits measureLimitsWith(std::int64_t threads, const LimitsEffort& effort);

}  // namespace firsttoken::engine
