#include <cstring>

// Libraries with NVML's C interface for the tests. FAKE_NVML_CARDS cards; with FAKE_NVML_SICK the driver does not
// start. The second card knows nothing but its handle; nothing here tells temperatures.
extern "C" {

int nvmlInit_v2() {
#ifdef FAKE_NVML_SICK
    return 9;
#else
    return 0;
#endif
}
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* version, unsigned int length) {
    std::strncpy(version, "999.1", length);
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned int* count) {
    *count = FAKE_NVML_CARDS;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** handle) {
    static char cards[2];
    if (index > 1) return 6;
    *handle = &cards[index];
    cards[index] = static_cast<char>(index);
    return 0;
}
int nvmlDeviceGetName(void* handle, char* name, unsigned int length) {
    if (*static_cast<char*>(handle) != 0) return 3;
    std::memset(name, 'G', length);  // no end: the reader must hold its own
    return 0;
}
int nvmlDeviceGetUtilizationRates(void* handle, unsigned int* rates) {
    if (*static_cast<char*>(handle) != 0) return 3;
    rates[0] = 37;
    rates[1] = 11;
    return 0;
}
int nvmlDeviceGetMemoryInfo(void* handle, unsigned long long* bytes) {
    if (*static_cast<char*>(handle) != 0) return 3;
    bytes[0] = 8'000'000'000;
    bytes[1] = 5'000'000'000;
    bytes[2] = 3'000'000'000;
    return 0;
}
int nvmlDeviceGetPowerUsage(void* handle, unsigned int* milliwatts) {
    if (*static_cast<char*>(handle) != 0) return 3;
    *milliwatts = 61'500;
    return 0;
}
}
