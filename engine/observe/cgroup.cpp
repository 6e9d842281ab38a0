#include "engine/observe/cgroup.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/observe/proc_files.h"

namespace firsttoken::engine {

namespace {

namespace fs = std::filesystem;

/// Names of one version's files.
struct MemoryFiles {
    const char* limit;
    const char* used;
    const char* inactiveFile;
    const char* activeFile;
};
constexpr MemoryFiles memoryFilesV2{"memory.max", "memory.current", "inactive_file", "active_file"};
constexpr MemoryFiles memoryFilesV1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                                    "total_active_file"};
/// Version 1 writes "no limit" as the largest whole number of pages.
constexpr std::uint64_t noLimit = std::uint64_t{1} << 60U;

bool namesController(std::string_view list, std::string_view controller) {
    while (!list.empty()) {
        const auto comma = std::min(list.find(','), list.size());
        if (list.substr(0, comma) == controller) return true;
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

/// The group of this process under `controller` ("" for version 2), from lines "id:controllers:/path".
std::optional<std::string> groupPath(const fs::path& root, std::string_view controller) {
    const auto text = readSmallFile(root / "proc/self/cgroup");
    if (!text) return std::nullopt;
    std::string_view rest = *text;
    while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const auto first = line.find(':');
        const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        const bool fits = controller.empty() ? controllers.empty() : namesController(controllers, controller);
        if (fits) return std::string(line.substr(second + 1));
    }
    return std::nullopt;
}

/// The folders of the process's group and of all above it, the mount point last. A path that leads out of the mount
/// (a container without a namespace of its own) leaves the mount point alone.
std::vector<fs::path> groupFolders(const fs::path& mount, const std::string& group) {
    std::vector<fs::path> folders;
    const fs::path relative = fs::path(group).lexically_normal().relative_path();
    std::error_code ignored;
    if (!relative.empty() && *relative.begin() != ".." && fs::is_directory(mount / relative, ignored)) {
        for (fs::path path = relative; !path.empty(); path = path.parent_path()) folders.push_back(mount / path);
    }
    folders.push_back(mount);
    return folders;
}

std::optional<std::uint64_t> numberIn(const fs::path& file) {
    const auto text = readSmallFile(file);
    return text ? parseNumber(*text) : std::nullopt;
}

std::optional<CgroupMemory> memoryOf(const fs::path& folder, const MemoryFiles& files) {
    const auto limit = numberIn(folder / files.limit);
    if (!limit || *limit >= noLimit) return std::nullopt;
    CgroupMemory memory{*limit, *limit};
    const auto used = numberIn(folder / files.used);
    if (!used) return memory;
    std::uint64_t cache = 0;
    if (const auto statistics = readSmallFile(folder / "memory.stat")) {
        for (const char* key : {files.inactiveFile, files.activeFile}) {
            const auto value = valueOf(*statistics, key);
            cache += value ? parseNumber(*value).value_or(0) : 0;
        }
    }
    const std::uint64_t held = *used - std::min(*used, cache);
    memory.availableBytes = *limit - std::min(*limit, held);
    return memory;
}

std::optional<double> quotaV2(const fs::path& folder) {
    const auto text = readSmallFile(folder / "cpu.max");
    if (!text) return std::nullopt;
    const std::string_view line = trimmed(*text);
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const auto quota = parseNumber(line.substr(0, blank));  // "max" is no number
    const auto period = parseNumber(line.substr(blank));
    if (!quota || !period || *period == 0) return std::nullopt;
    return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> quotaV1(const fs::path& folder) {
    const auto quota = numberIn(folder / "cpu.cfs_quota_us");  // -1, no quota, is no number
    const auto period = numberIn(folder / "cpu.cfs_period_us");
    if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
    return static_cast<double>(*quota) / static_cast<double>(*period);
}

template <class Value>
void takeLess(std::optional<Value>& least, Value value) {
    if (!least || value < *least) least = value;
}

}  // namespace

std::optional<CgroupMemory> cgroupMemory(const fs::path& root) {
    std::optional<CgroupMemory> least;
    const auto take = [&](const fs::path& mount, std::string_view controller, const MemoryFiles& files) {
        const auto group = groupPath(root, controller);
        if (!group) return;
        for (const fs::path& folder : groupFolders(mount, *group)) {
            const auto memory = memoryOf(folder, files);
            if (!memory) continue;
            if (!least) least = memory;
            least->limitBytes = std::min(least->limitBytes, memory->limitBytes);
            least->availableBytes = std::min(least->availableBytes, memory->availableBytes);
        }
    };
    take(root / "sys/fs/cgroup", "", memoryFilesV2);
    take(root / "sys/fs/cgroup/memory", "memory", memoryFilesV1);
    return least;
}

std::optional<double> cgroupProcessors(const fs::path& root) {
    std::optional<double> least;
    if (const auto group = groupPath(root, "")) {
        for (const fs::path& folder : groupFolders(root / "sys/fs/cgroup", *group)) {
            if (const auto quota = quotaV2(folder)) takeLess(least, *quota);
        }
    }
    if (const auto group = groupPath(root, "cpu")) {
        for (const char* mount : {"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"}) {
            for (const fs::path& folder : groupFolders(root / mount, *group)) {
                if (const auto quota = quotaV1(folder)) takeLess(least, *quota);
            }
        }
    }
    return least;
}

}  // namespace firsttoken::engine
