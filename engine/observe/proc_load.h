#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

/// Counters of /proc that only grow. `root` is where proc/ lies ("/" but for tests). What is unknown is empty.
namespace firsttoken::engine {

/// Page faults of this process since its start.
struct PageFaults {
    std::uint64_t minor = 0;
    std::uint64_t major = 0;
    bool operator==(const PageFaults&) const = default;
};
std::optional<PageFaults> pageFaults(const std::filesystem::path& root);

/// Time of all processors together since the machine started, in clock ticks.
struct MachineTimes {
    std::uint64_t busy = 0;
    std::uint64_t idle = 0;  ///< waiting for disks included
    bool operator==(const MachineTimes&) const = default;
};
std::optional<MachineTimes> machineTimes(const std::filesystem::path& root);
/// Busy share between two readings; empty where no tick passed or a counter went back (the kernel's may).
std::optional<double> busyShare(const MachineTimes& before, const MachineTimes& now);

}  // namespace firsttoken::engine
