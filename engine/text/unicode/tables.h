#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

/// The generated tables, as they lie in category_table.cpp and case_table.cpp; read them through unicode.h.
namespace firsttoken::engine::unicode {

/// The Unicode version of the tables: "15.0.0".
extern const std::string_view version;

/// Offsets 0, 2, 4 … from `first` have class `even`, the others `odd` (indices of CharacterClass).
struct ClassRange {
    std::uint32_t first;
    std::uint32_t last;
    std::uint8_t even;
    std::uint8_t odd;
};
struct CodeRange {
    std::uint32_t first;
    std::uint32_t last;
};
/// Every `step`-th code point of first … last maps to itself + delta.
struct CaseRange {
    std::uint32_t first;
    std::uint32_t last;
    std::uint32_t step;
    std::int32_t delta;
};
/// A mapping to up to three code points; 0 where there are fewer.
struct FullCase {
    std::uint32_t codePoint;
    std::array<std::uint32_t, 3> to;
};

// All sorted by code point; what no range holds is Other, or maps to itself.
extern const std::span<const ClassRange> classRanges;
extern const std::span<const CodeRange> whiteSpaceRanges;
extern const std::span<const CaseRange> lowerRanges;
extern const std::span<const CaseRange> titleRanges;  ///< only where it differs from upper case
extern const std::span<const CaseRange> upperRanges;
extern const std::span<const FullCase> lowerFull;
extern const std::span<const FullCase> titleFull;
extern const std::span<const FullCase> upperFull;

}  // namespace firsttoken::engine::unicode
