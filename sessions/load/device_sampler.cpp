#include "sessions/device_sampler.h"

#include <limits>
#include <memory>
#include <utility>

namespace firsttoken::sessions {

namespace {

std::optional<std::int64_t> asSigned(std::optional<std::uint64_t> value) {
    if (!value || *value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(*value);
}

}  // namespace

std::function<void(SampleRecord&)> deviceSampler() { return deviceSampler(engine::DeviceMonitor()); }

std::function<void(SampleRecord&)> deviceSampler(engine::DeviceMonitor monitor) {
    return [shared = std::make_shared<engine::DeviceMonitor>(std::move(monitor))](SampleRecord& record) {
        const engine::DeviceSample sample = shared->sample();
        record.processCpu = sample.processCpu;
        record.machineCpu = sample.machineCpu;
        record.residentBytes = asSigned(sample.residentBytes);
        record.availableBytes = asSigned(sample.availableBytes);
        record.majorFaults = asSigned(sample.majorFaults);
        // The processor's alone: the engine runs there. A card that idles beside it is no part of the answer's cost.
        record.watts = sample.packageWatts;
    };
}

}  // namespace firsttoken::sessions
