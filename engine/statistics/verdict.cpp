#include <algorithm>
#include <numeric>

#include "engine/statistics.h"

namespace firsttoken::engine {

std::vector<double> benjaminiHochberg(std::span<const double> pValues) {
    std::vector<std::size_t> order(pValues.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return pValues[i] < pValues[j]; });
    std::vector<double> adjusted(pValues.size());
    const auto count = static_cast<double>(order.size());
    double least = 1;
    for (std::size_t rank = order.size(); rank > 0; --rank) {
        least = std::min(least, pValues[order[rank - 1]] * count / static_cast<double>(rank));
        adjusted[order[rank - 1]] = least;
    }
    return adjusted;
}

Verdict judge(const RunComparison& comparison, std::optional<double> adjustedP, Direction direction, double margin,
              double level) {
    const auto& interval = comparison.interval;
    if (interval && interval->low >= -margin && interval->high <= margin) return Verdict::Equivalent;
    const bool differs = adjustedP && *adjustedP <= level && comparison.a && comparison.b;
    if (!differs || direction == Direction::Neutral || *comparison.a == *comparison.b) return Verdict::Undecided;
    const bool lower = *comparison.b < *comparison.a;
    return lower == (direction == Direction::LowerIsBetter) ? Verdict::Better : Verdict::Worse;
}

std::string_view toString(Verdict verdict) {
    switch (verdict) {
        case Verdict::Better:
            return "better";
        case Verdict::Worse:
            return "worse";
        case Verdict::Equivalent:
            return "equivalent";
        case Verdict::Undecided:
            return "undecided";
        case Verdict::Refused:
            return "refused";
    }
    return "undecided";
}

std::string_view toString(Direction direction) {
    switch (direction) {
        case Direction::LowerIsBetter:
            return "lower";
        case Direction::HigherIsBetter:
            return "higher";
        case Direction::Neutral:
            return "neutral";
    }
    return "neutral";
}

}  // namespace firsttoken::engine
