#include "engine/observe/memory_use.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "engine/device.h"
#include "engine/observe/cgroup.h"
#include "engine/observe/proc_files.h"

namespace firsttoken::engine {

namespace {

std::optional<std::uint64_t> product(std::uint64_t count, std::uint64_t bytes) {
    if (bytes != 0 && count > std::numeric_limits<std::uint64_t>::max() / bytes) return std::nullopt;
    return count * bytes;
}

}  // namespace

std::optional<std::uint64_t> memoryInfo(const std::filesystem::path& root, std::string_view key) {
    const auto text = readSmallFile(root / "proc/meminfo");
    if (!text) return std::nullopt;
    auto value = valueOf(*text, key);
    if (!value) return std::nullopt;
    if (value->ends_with("kB")) value->remove_suffix(2);
    const auto kibibytes = parseNumber(*value);
    return kibibytes ? product(*kibibytes, 1024) : std::nullopt;
}

std::optional<std::uint64_t> availableMemoryBytes(const std::filesystem::path& root) {
    auto available = memoryInfo(root, "MemAvailable");
    if (const auto group = cgroupMemory(root)) {
        available = std::min(available.value_or(group->availableBytes), group->availableBytes);
    }
    return available;
}

std::optional<std::uint64_t> residentBytes(const std::filesystem::path& root) {
    const auto text = readSmallFile(root / "proc/self/statm");  // pages: size resident shared …
    if (!text) return std::nullopt;
    const auto blank = text->find(' ');
    if (blank == std::string::npos) return std::nullopt;
    const auto pages = parseNumber(text->substr(blank + 1, text->find(' ', blank + 1) - blank - 1));
    const long pageBytes = sysconf(_SC_PAGESIZE);
    if (!pages || pageBytes <= 0) return std::nullopt;
    return product(*pages, static_cast<std::uint64_t>(pageBytes));
}

std::optional<std::uint64_t> availableMemoryBytes() { return availableMemoryBytes("/"); }
std::optional<std::uint64_t> residentBytes() { return residentBytes("/"); }

}  // namespace firsttoken::engine
