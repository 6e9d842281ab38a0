#include <chrono>
#include <ctime>
#include <utility>

#include "engine/device.h"
#include "engine/observe/energy_counter.h"
#include "engine/observe/memory_use.h"
#include "engine/observe/nvml.h"
#include "engine/observe/proc_load.h"

namespace firsttoken::engine {

namespace {

std::int64_t systemSteadyNs() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// Not from /proc/self/stat: its ticks of 10 ms are too coarse for ten samples a second.
std::optional<std::int64_t> systemProcessCpuNs() {
    timespec time{};
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) return std::nullopt;
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

struct DeviceMonitor::State {
    Options options;
    EnergyCounter energy;
    std::unique_ptr<Nvml> nvml;
    std::optional<std::int64_t> beforeNs;
    std::optional<std::int64_t> beforeCpuNs;
    std::optional<MachineTimes> beforeTimes;

    explicit State(Options given) : options(std::move(given)), energy(options.root) {
        if (!options.steadyNs) options.steadyNs = systemSteadyNs;
        if (!options.processCpuNs) options.processCpuNs = systemProcessCpuNs;
        nvml = Nvml::open(options.nvmlLibrary);
    }

    void takeRates(DeviceSample& sample) {
        const std::int64_t nowNs = options.steadyNs();
        const auto cpuNs = options.processCpuNs();
        const auto times = machineTimes(options.root);
        const auto wasNs = std::exchange(beforeNs, nowNs);
        const auto wasCpuNs = std::exchange(beforeCpuNs, cpuNs);
        const auto wasTimes = std::exchange(beforeTimes, times);
        if (wasNs && nowNs > *wasNs && cpuNs && wasCpuNs && *cpuNs >= *wasCpuNs) {
            sample.processCpu = static_cast<double>(*cpuNs - *wasCpuNs) / static_cast<double>(nowNs - *wasNs);
        }
        if (times && wasTimes) sample.machineCpu = busyShare(*wasTimes, *times);
        sample.packageWatts = energy.watts(nowNs);
    }
};

DeviceMonitor::DeviceMonitor(Options options) : m_state(std::make_unique<State>(std::move(options))) {
    DeviceSample first;
    m_state->takeRates(first);
}

DeviceMonitor::~DeviceMonitor() = default;
DeviceMonitor::DeviceMonitor(DeviceMonitor&&) noexcept = default;
DeviceMonitor& DeviceMonitor::operator=(DeviceMonitor&&) noexcept = default;

DeviceSample DeviceMonitor::sample() {
    DeviceSample sample;
    m_state->takeRates(sample);
    sample.residentBytes = residentBytes(m_state->options.root);
    sample.availableBytes = availableMemoryBytes(m_state->options.root);
    if (const auto faults = pageFaults(m_state->options.root)) {
        sample.majorFaults = faults->major;
        sample.minorFaults = faults->minor;
    }
    if (m_state->nvml) sample.gpus = m_state->nvml->sample();
    return sample;
}

std::string DeviceMonitor::gpuDriver() const { return m_state->nvml ? m_state->nvml->driver() : std::string(); }

}  // namespace firsttoken::engine
