#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

/// Limits that the control groups of this process set, of version 2 and 1: the tightest of its group and all groups
/// above. `root` is where /proc and /sys lie ("/" but for tests).
namespace firsttoken::engine {

struct CgroupMemory {
    std::uint64_t limitBytes = 0;
    /// Limit less use; file cache, which the kernel gives up without swapping, counts as free.
    std::uint64_t availableBytes = 0;
    bool operator==(const CgroupMemory&) const = default;
};
/// Empty where no group limits memory. limitBytes and availableBytes are the least of all groups, each for itself.
std::optional<CgroupMemory> cgroupMemory(const std::filesystem::path& root);

/// Processors' worth of time that the quota allows; empty where there is no quota.
std::optional<double> cgroupProcessors(const std::filesystem::path& root);

}  // namespace firsttoken::engine
