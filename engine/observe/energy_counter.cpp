#include "engine/observe/energy_counter.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "engine/observe/proc_files.h"

namespace firsttoken::engine {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t mostNs = 60'000'000'000;
constexpr double joulesPerMicrojoule = 1e-6;

/// Zones "intel-rapl:0" are packages (or "psys", which holds the packages again); "intel-rapl:0:1" are their parts,
/// of which memory is not within the package. AMD's counters carry the same names.
bool isCounted(const fs::path& folder) {
    const std::string zone = folder.filename().string();
    if (!zone.starts_with("intel-rapl:")) return false;
    const auto text = readSmallFile(folder / "name");
    if (!text) return false;
    const std::string_view name = trimmed(*text);
    const auto depth = std::count(zone.begin(), zone.end(), ':');
    return (depth == 1 && name.starts_with("package")) || (depth == 2 && name == "dram");
}

}  // namespace

EnergyCounter::EnergyCounter(const fs::path& root) {
    std::error_code error;
    fs::directory_iterator entry(root / "sys/class/powercap", error);
    while (!error && entry != fs::directory_iterator()) {
        const fs::path folder = entry->path();
        if (isCounted(folder)) {
            const auto range = readSmallFile(folder / "max_energy_range_uj");
            m_zones.push_back({folder, std::nullopt, range ? parseNumber(*range).value_or(0) : 0});
        }
        entry.increment(error);
    }
}

std::optional<double> EnergyCounter::joulesSince(Zone& zone) {
    const auto text = readSmallFile(zone.folder / "energy_uj");
    const auto now = text ? parseNumber(*text) : std::nullopt;
    const auto before = std::exchange(zone.before, now);
    if (!now || !before) return std::nullopt;
    if (*now >= *before) return static_cast<double>(*now - *before) * joulesPerMicrojoule;
    if (zone.range < *before) return std::nullopt;
    return static_cast<double>(zone.range - *before + *now) * joulesPerMicrojoule;
}

std::optional<double> EnergyCounter::watts(std::int64_t nowNs) {
    const auto beforeNs = std::exchange(m_beforeNs, nowNs);
    double joules = 0;
    bool complete = !m_zones.empty();
    for (Zone& zone : m_zones) {
        const auto part = joulesSince(zone);
        complete = complete && part.has_value();
        joules += part.value_or(0);
    }
    if (!complete || !beforeNs || nowNs <= *beforeNs || nowNs - *beforeNs > mostNs) return std::nullopt;
    return joules / (static_cast<double>(nowNs - *beforeNs) * 1e-9);
}

}  // namespace firsttoken::engine
