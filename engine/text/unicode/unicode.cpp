#include "engine/text/unicode/unicode.h"

#include <algorithm>
#include <array>

#include "engine/text/unicode/tables.h"

namespace firsttoken::engine {

namespace {

constexpr std::uint8_t whiteSpaceBit = 0x80;

/// The range that holds `codePoint` in a sorted table, or null.
template <class Range>
const Range* find(std::span<const Range> ranges, std::uint32_t codePoint) {
    const auto after = std::upper_bound(ranges.begin(), ranges.end(), codePoint,
                                        [](std::uint32_t value, const Range& range) { return value < range.first; });
    if (after == ranges.begin()) return nullptr;
    const Range& range = *(after - 1);
    return codePoint <= range.last ? &range : nullptr;
}

std::uint8_t searchTraits(std::uint32_t codePoint) {
    std::uint8_t packed = 0;
    if (const auto* range = find(unicode::classRanges, codePoint)) {
        packed = (codePoint - range->first) % 2 == 0 ? range->even : range->odd;
    }
    if (find(unicode::whiteSpaceRanges, codePoint) != nullptr) packed |= whiteSpaceBit;
    return packed;
}

/// The planes that text is made of, spread out: one byte load for a lookup. 128 KiB.
constexpr std::uint32_t spreadEnd = 0x20000;
using Spread = std::array<std::uint8_t, spreadEnd>;

Spread makeSpread() {
    Spread spread{};
    for (const auto& range : unicode::classRanges) {
        for (std::uint32_t c = range.first; c <= range.last && c < spreadEnd; ++c) {
            spread[c] = (c - range.first) % 2 == 0 ? range.even : range.odd;
        }
    }
    for (const auto& range : unicode::whiteSpaceRanges) {
        for (std::uint32_t c = range.first; c <= range.last; ++c) spread[c] |= whiteSpaceBit;
    }
    return spread;
}

std::uint32_t simpleCase(std::span<const unicode::CaseRange> ranges, std::uint32_t codePoint) {
    const auto* range = find(ranges, codePoint);
    if (range == nullptr || (codePoint - range->first) % range->step != 0) return codePoint;
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(codePoint) + range->delta);
}

const unicode::FullCase* fullCase(std::span<const unicode::FullCase> table, std::uint32_t codePoint) {
    const auto at =
        std::lower_bound(table.begin(), table.end(), codePoint,
                         [](const unicode::FullCase& entry, std::uint32_t value) { return entry.codePoint < value; });
    return at != table.end() && at->codePoint == codePoint ? &*at : nullptr;
}

}  // namespace

std::string_view unicodeVersion() { return unicode::version; }

CharacterTraits traitsOf(char32_t codePoint) {
    static const Spread spread = makeSpread();
    const auto c = static_cast<std::uint32_t>(codePoint);
    const std::uint8_t packed = c < spreadEnd ? spread[c] : searchTraits(c);
    return {static_cast<CharacterClass>(packed & ~whiteSpaceBit), (packed & whiteSpaceBit) != 0};
}

void appendCased(std::vector<char32_t>& out, char32_t codePoint, LetterCase to) {
    const auto c = static_cast<std::uint32_t>(codePoint);
    const auto full = to == LetterCase::Lower   ? unicode::lowerFull
                      : to == LetterCase::Title ? unicode::titleFull
                                                : unicode::upperFull;
    if (const auto* entry = fullCase(full, c)) {
        for (const std::uint32_t part : entry->to) {
            if (part != 0) out.push_back(part);
        }
        return;
    }
    if (to == LetterCase::Lower) {
        out.push_back(simpleCase(unicode::lowerRanges, c));
    } else if (to == LetterCase::Title && find(unicode::titleRanges, c) != nullptr) {
        out.push_back(simpleCase(unicode::titleRanges, c));
    } else {
        out.push_back(simpleCase(unicode::upperRanges, c));
    }
}

}  // namespace firsttoken::engine
