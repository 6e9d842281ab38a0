#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "engine/device.h"
#include "engine/observe/cgroup.h"
#include "engine/observe/instruction_sets.h"
#include "engine/observe/memory_use.h"
#include "engine/observe/proc_files.h"

namespace firsttoken::engine {

namespace {

std::int64_t usableCores() {
    std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
    constexpr std::size_t most = 8192;  // processors that the set can name
    if (cpu_set_t* set = CPU_ALLOC(most)) {
        const std::size_t bytes = CPU_ALLOC_SIZE(most);
        CPU_ZERO_S(bytes, set);
        if (sched_getaffinity(0, bytes, set) == 0) cores = std::max(1, CPU_COUNT_S(bytes, set));
        CPU_FREE(set);
    }
    if (const auto quota = cgroupProcessors("/")) {
        cores = std::min(cores, std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(*quota))));
    }
    return cores;
}

std::string processorName() {
    const auto text = readSmallFile("/proc/cpuinfo");
    if (text) {
        for (const char* key : {"model name", "Model", "Hardware"}) {
            if (const auto name = valueOf(*text, key)) return std::string(*name);
        }
    }
    utsname names{};
    return uname(&names) == 0 ? std::string(names.machine) : std::string("unknown processor");
}

std::string systemName() {
    std::string system;
    if (const auto text = readSmallFile("/etc/os-release")) {
        constexpr std::string_view key = "PRETTY_NAME=";
        std::string_view rest = *text;
        const auto at = rest.starts_with(key) ? 0 : rest.find("\nPRETTY_NAME=");
        if (at != std::string_view::npos) {
            rest = rest.substr(rest.find('=', at) + 1);
            rest = trimmed(rest.substr(0, rest.find('\n')));
            if (rest.size() >= 2 && rest.front() == '"' && rest.back() == '"') rest = rest.substr(1, rest.size() - 2);
            system = std::string(rest) + ", ";
        }
    }
    utsname names{};
    if (uname(&names) != 0) return system + "unknown kernel";
    return system + names.sysname + " " + names.release + " " + names.machine;
}

std::string buildName() {
#if defined(__clang__)
    return FIRSTTOKEN_VERSION ", clang " __clang_version__ ", " FIRSTTOKEN_BUILD_TYPE;
#else
    return FIRSTTOKEN_VERSION ", gcc " __VERSION__ ", " FIRSTTOKEN_BUILD_TYPE;
#endif
}

}  // namespace

MachineFacts machineFacts() {
    MachineFacts facts;
    facts.processor = processorName();
    facts.cores = usableCores();
    facts.memoryBytes = memoryInfo("/", "MemTotal");
    if (const auto group = cgroupMemory("/")) {
        facts.memoryBytes = std::min(facts.memoryBytes.value_or(group->limitBytes), group->limitBytes);
    }
    facts.instructionSets = namesOf(instructionSets());
    facts.system = systemName();
    facts.build = buildName();
    return facts;
}

}  // namespace firsttoken::engine
