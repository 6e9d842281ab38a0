#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Facts of the machine and its load. What is unknown is empty, never 0. Any thread.
namespace firsttoken::engine {

struct MachineFacts {
    std::string processor;                        ///< model name
    std::int64_t cores = 1;                       ///< that this process may use (affinity and cgroup quota)
    std::optional<std::uint64_t> memoryBytes;     ///< physical, or the cgroup's limit where that is less
    std::vector<std::string> instructionSets;     ///< of those that kernels may use: avx2, avx512-vnni, amx-int8 …
    std::string system;                           ///< kernel and distribution
    std::string build;                            ///< this build: version, compiler, type
};
MachineFacts machineFacts();

/// Memory that a new allocation may take without swapping: MemAvailable, or less where a cgroup limits.
std::optional<std::uint64_t> availableMemoryBytes();
/// Resident bytes of this process.
std::optional<std::uint64_t> residentBytes();

/// What the machine can do, measured now (about a second): for `bench --limits`.
struct DeviceLimits {
    std::optional<double> readGbPerS;             ///< sequential read, all threads
    std::optional<double> int8TopPerS;            ///< int8 multiply-adds as 2 operations each
    std::optional<double> bf16TopPerS;            ///< empty where the machine has no bf16 products
};
DeviceLimits measureLimits(std::int64_t threads);

}  // namespace firsttoken::engine
