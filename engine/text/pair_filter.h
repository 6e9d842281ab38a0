#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace firsttoken::engine {

/// Which pairs of neighbouring characters may lie within a token. Between two that never do, no join can be made: a
/// text can be cut there, and its parts encoded on their own, with the same outcome. May say yes wrongly, never no.
class PairFilter {
public:
    void add(std::string_view token);
    /// Two characters, one right after the other.
    bool mayJoin(std::string_view character, std::string_view next) const { return m_bits[slotOf(character, next)]; }

private:
    static constexpr std::size_t slotCount = std::size_t{1} << 22U;
    static std::size_t slotOf(std::string_view first, std::string_view second);

    std::vector<bool> m_bits = std::vector<bool>(slotCount);
};

}  // namespace firsttoken::engine
