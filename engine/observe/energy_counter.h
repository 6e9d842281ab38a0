#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace firsttoken::engine {

/// Energy that the processor packages used, by RAPL's counters in sys/class/powercap; memory is added where a package
/// counts it apart. Most systems let only root read them. One thread.
class EnergyCounter {
public:
    explicit EnergyCounter(const std::filesystem::path& root);
    /// Watts since the last call. Empty in the first call, where any counter cannot be read (a part is not the whole),
    /// and after more than a minute, in which a counter may have wrapped around more than once.
    std::optional<double> watts(std::int64_t nowNs);

private:
    struct Zone {
        std::filesystem::path folder;
        std::optional<std::uint64_t> before;  ///< µJ
        std::uint64_t range = 0;              ///< the counter wraps around after this value, µJ; 0: unknown
    };
    static std::optional<double> joulesSince(Zone& zone);

    std::vector<Zone> m_zones;
    std::optional<std::int64_t> m_beforeNs;
};

}  // namespace firsttoken::engine
