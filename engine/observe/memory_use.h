#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

/// Memory of the machine and of this process, in bytes. `root` is where /proc and /sys lie ("/" but for tests).
namespace firsttoken::engine {

/// A line "Key:   123 kB" of /proc/meminfo.
std::optional<std::uint64_t> memoryInfo(const std::filesystem::path& root, std::string_view key);
/// MemAvailable, or what the tightest control group leaves.
std::optional<std::uint64_t> availableMemoryBytes(const std::filesystem::path& root);
/// Of this process.
std::optional<std::uint64_t> residentBytes(const std::filesystem::path& root);

}  // namespace firsttoken::engine
