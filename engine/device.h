#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
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

/// One graphics card, as its driver tells it.
struct GpuSample {
    std::string name;
    std::optional<double> use;                    ///< duty cycle, 0 … 1: share of the time in which any kernel ran
    std::optional<std::uint64_t> memoryBytes;     ///< in use, by all processes
    std::optional<std::uint64_t> memoryTotalBytes;
    std::optional<double> watts;
    std::optional<double> celsius;
    bool operator==(const GpuSample&) const = default;
};

/// The machine at one moment. Rates are over the time since the sample before.
struct DeviceSample {
    std::optional<double> processCpu;             ///< cores in use by this process
    std::optional<double> machineCpu;             ///< share of all cores of the machine that is busy, 0 … 1
    std::optional<std::uint64_t> residentBytes;   ///< of this process
    std::optional<std::uint64_t> availableBytes;  ///< as availableMemoryBytes()
    std::optional<std::uint64_t> majorFaults;     ///< since the start of the process: pages that came from a disk
    std::optional<std::uint64_t> minorFaults;     ///< since the start of the process
    std::optional<double> packageWatts;           ///< RAPL: all processor packages and, where told apart, their memory
    std::vector<GpuSample> gpus;                  ///< empty: no card, or no driver
    bool operator==(const DeviceSample&) const = default;
};

/// Watches the machine that this process runs on: /proc, RAPL (/sys/class/powercap), NVML where its library is found
/// at run time. Cheap enough for ten samples a second. One thread at a time.
class DeviceMonitor {
public:
    struct Options {
        std::filesystem::path root = "/";         ///< where proc/ and sys/ lie
        std::string nvmlLibrary = "libnvidia-ml.so.1";  ///< empty: cards are not looked for
        /// Steady time and CPU time of this process, in ns. Empty: those of the system.
        std::function<std::int64_t()> steadyNs;
        std::function<std::optional<std::int64_t>()> processCpuNs;
    };
    DeviceMonitor() : DeviceMonitor(Options()) {}
    /// Opens what there is, and takes the first look: the rates of the first sample count from here.
    explicit DeviceMonitor(Options options);
    ~DeviceMonitor();
    DeviceMonitor(DeviceMonitor&&) noexcept;
    DeviceMonitor& operator=(DeviceMonitor&&) noexcept;

    DeviceSample sample();
    /// Version of the cards' driver; empty without one.
    std::string gpuDriver() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace firsttoken::engine
