#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace firsttoken::engine {

/// Numbers of one tensor, each a function of (seed, name, index) alone: any part can be made at any time, by any
/// thread, on any machine, and is the same.
class RandomValues {
public:
    RandomValues(std::uint64_t seed, std::string_view name);

    /// values[i] becomes number `first` + i: nearly normal (a sum of four uniform numbers), |x - mean| < 3.5 deviation.
    void fill(std::uint64_t first, std::span<float> values, double mean, double deviation) const;

private:
    std::uint64_t m_start;
};

}  // namespace firsttoken::engine
