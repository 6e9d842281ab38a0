#include "engine/observe/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace firsttoken::engine {

namespace {

// The library's C interface, as its manual gives it. A result of 0 is success.
struct DeviceHandle;
struct Utilization {
    unsigned int gpu = 0;  ///< percent of the driver's last sample period
    unsigned int memory = 0;
};
struct Memory {
    unsigned long long total = 0;  ///< bytes
    unsigned long long free = 0;
    unsigned long long used = 0;
};
constexpr unsigned int temperatureOfGpu = 0;
constexpr unsigned int mostCards = 64;
using Name = std::array<char, 97>;  ///< one more than the library ever writes

std::string text(const Name& name) { return {name.begin(), std::find(name.begin(), name.end(), '\0')}; }

template <class Function>
void find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

struct Nvml::Functions {
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*driverVersion)(char*, unsigned int) = nullptr;
    int (*count)(unsigned int*) = nullptr;
    int (*handle)(unsigned int, DeviceHandle**) = nullptr;
    int (*name)(DeviceHandle*, char*, unsigned int) = nullptr;
    int (*utilization)(DeviceHandle*, Utilization*) = nullptr;
    int (*memory)(DeviceHandle*, Memory*) = nullptr;
    int (*power)(DeviceHandle*, unsigned int*) = nullptr;  ///< mW
    int (*temperature)(DeviceHandle*, unsigned int, unsigned int*) = nullptr;

    explicit Functions(void* library) {
        find(library, "nvmlInit_v2", init);
        find(library, "nvmlShutdown", shutdown);
        find(library, "nvmlSystemGetDriverVersion", driverVersion);
        find(library, "nvmlDeviceGetCount_v2", count);
        find(library, "nvmlDeviceGetHandleByIndex_v2", handle);
        find(library, "nvmlDeviceGetName", name);
        find(library, "nvmlDeviceGetUtilizationRates", utilization);
        find(library, "nvmlDeviceGetMemoryInfo", memory);
        find(library, "nvmlDeviceGetPowerUsage", power);
        find(library, "nvmlDeviceGetTemperature", temperature);
    }
};

struct Nvml::Card {
    DeviceHandle* handle = nullptr;
    std::string name;
};

Nvml::Nvml() = default;

Nvml::~Nvml() {
    if (m_started && m_functions->shutdown != nullptr) m_functions->shutdown();
    if (m_library != nullptr) dlclose(m_library);
}

std::unique_ptr<Nvml> Nvml::open(const std::string& library) {
    if (library.empty()) return nullptr;
    std::unique_ptr<Nvml> nvml(new Nvml);
    nvml->m_library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (nvml->m_library == nullptr) return nullptr;
    nvml->m_functions = std::make_unique<Functions>(nvml->m_library);
    const Functions& call = *nvml->m_functions;
    if (call.init == nullptr || call.count == nullptr || call.handle == nullptr || call.init() != 0) return nullptr;
    nvml->m_started = true;
    unsigned int count = 0;
    if (call.count(&count) != 0) return nullptr;
    for (unsigned int i = 0; i < std::min(count, mostCards); ++i) {
        Card card;
        if (call.handle(i, &card.handle) != 0) continue;
        Name name{};
        if (call.name != nullptr && call.name(card.handle, name.data(), name.size() - 1) == 0) card.name = text(name);
        nvml->m_cards.push_back(std::move(card));
    }
    if (nvml->m_cards.empty()) return nullptr;
    return nvml;
}

std::vector<GpuSample> Nvml::sample() const {
    const Functions& call = *m_functions;
    std::vector<GpuSample> samples;
    for (const Card& card : m_cards) {
        GpuSample sample;
        sample.name = card.name;
        if (Utilization rates; call.utilization != nullptr && call.utilization(card.handle, &rates) == 0) {
            sample.use = rates.gpu / 100.0;
        }
        if (Memory bytes; call.memory != nullptr && call.memory(card.handle, &bytes) == 0) {
            sample.memoryBytes = bytes.used;
            sample.memoryTotalBytes = bytes.total;
        }
        if (unsigned int milliwatts = 0; call.power != nullptr && call.power(card.handle, &milliwatts) == 0) {
            sample.watts = milliwatts / 1000.0;
        }
        if (unsigned int degrees = 0;
            call.temperature != nullptr && call.temperature(card.handle, temperatureOfGpu, &degrees) == 0) {
            sample.celsius = degrees;
        }
        samples.push_back(std::move(sample));
    }
    return samples;
}

std::string Nvml::driver() const {
    Name version{};
    if (m_functions->driverVersion == nullptr) return {};
    return m_functions->driverVersion(version.data(), version.size() - 1) == 0 ? text(version) : std::string();
}

}  // namespace firsttoken::engine
