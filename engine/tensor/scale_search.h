#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

/// Least-squares searches for the scales of a block, over `N` values. The sums run in eight lanes, so that they
/// vectorise without leave to reorder.
namespace firsttoken::engine {

/// Nearest whole number in 0 … `most`; 0 for NaN.
inline int nearestCode(float scaled, float most) {
    const float inside = scaled > 0.0F ? (scaled < most ? scaled : most) : 0.0F;
    return static_cast<int>(inside + 0.5F);
}

constexpr std::size_t lanes = 8;
using Lanes = std::array<float, lanes>;

inline float sumOf(const Lanes& l) { return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7])); }

/// value ≈ scale * code - minimum, codes 0 … levels, minimum ≥ 0.
struct AffineFit {
    float scale = 0.0F;
    float minimum = 0.0F;
};

/// Trial inverse scales (levels + firstStep + 0.1 i) / range, i = 0 … steps.
struct AffineSearch {
    float levels;
    float firstStep;
    int steps;
};

/// Sums over the values of a block, each with its weight, that do not depend on the codes.
template <std::size_t N>
struct WeightedValues {
    std::array<float, N> weights;
    float weightSum = 0.0F;
    float valueSum = 0.0F;

    /// Weights of root mean square + |value|: errors of large values cost more.
    explicit WeightedValues(const float* values) {
        static_assert(N % lanes == 0);
        Lanes squares{}, weightLanes{}, valueLanes{};
        for (std::size_t i = 0; i < N; i += lanes) {
            for (std::size_t l = 0; l < lanes; ++l) squares[l] += values[i + l] * values[i + l];
        }
        const float spread = std::sqrt(sumOf(squares) / static_cast<float>(N));
        for (std::size_t i = 0; i < N; i += lanes) {
            for (std::size_t l = 0; l < lanes; ++l) {
                weights[i + l] = spread + std::abs(values[i + l]);
                weightLanes[l] += weights[i + l];
                valueLanes[l] += weights[i + l] * values[i + l];
            }
        }
        weightSum = sumOf(weightLanes);
        valueSum = sumOf(valueLanes);
    }
};

/// The best fit for the codes that `inverse` gives, and by how much it lowers the weighted sum of squares.
struct AffineTrial {
    AffineFit fit;
    float gain = -1.0F;
};

template <std::size_t N>
AffineTrial tryAffine(const float* values, const WeightedValues<N>& weighted, float least, float inverse,
                      float levels) {
    Lanes codeLanes{}, squareLanes{}, productLanes{};
    for (std::size_t i = 0; i < N; i += lanes) {
        for (std::size_t l = 0; l < lanes; ++l) {
            const auto code = static_cast<float>(nearestCode((values[i + l] - least) * inverse, levels));
            const float share = weighted.weights[i + l] * code;
            codeLanes[l] += share;
            squareLanes[l] += share * code;
            productLanes[l] += share * values[i + l];
        }
    }
    const float codes = sumOf(codeLanes), squares = sumOf(squareLanes), products = sumOf(productLanes);
    const float determinant = weighted.weightSum * squares - codes * codes;
    if (!(determinant > 0.0F)) return {};
    float scale = (weighted.weightSum * products - codes * weighted.valueSum) / determinant;
    float offset = (squares * weighted.valueSum - codes * products) / determinant;
    if (offset > 0.0F) {
        offset = 0.0F;
        scale = products / squares;
    }
    if (!(scale > 0.0F)) return {};
    return {{scale, -offset}, scale * products + offset * weighted.valueSum};
}

template <std::size_t N>
AffineFit fitAffine(const float* values, const AffineSearch& search) {
    float least = 0.0F, greatest = values[0];
    for (std::size_t i = 0; i < N; ++i) {
        least = std::min(least, values[i]);
        greatest = std::max(greatest, values[i]);
    }
    const float range = greatest - least;
    AffineTrial best{{range / search.levels, -least}, -1.0F};
    // No search where there is nothing to choose, or where the squares would not be finite.
    if (!(range > 0.0F) || !(range < 1e18F)) return best.fit;
    const WeightedValues<N> weighted(values);
    for (int step = 0; step <= search.steps; ++step) {
        const float inverse = (search.levels + search.firstStep + 0.1F * static_cast<float>(step)) / range;
        const AffineTrial trial = tryAffine<N>(values, weighted, least, inverse, search.levels);
        if (trial.gain > best.gain) best = trial;
    }
    return best.fit;
}

/// value ≈ scale * code, codes -levels … levels - 1; the scale has either sign. Trials put the value of largest
/// magnitude near the negative end.
template <std::size_t N>
float fitSymmetric(const float* values, float levels) {
    static_assert(N % lanes == 0);
    float extreme = 0.0F;
    for (std::size_t i = 0; i < N; ++i) {
        if (std::abs(values[i]) > std::abs(extreme)) extreme = values[i];
    }
    if (!(std::abs(extreme) > 1e-30F) || !(std::abs(extreme) < 1e18F)) return -extreme / levels;

    float best = -extreme / levels, bestGain = -1.0F;
    for (int step = -9; step <= 9; ++step) {
        const float inverse = -(levels + 0.1F * static_cast<float>(step)) / extreme;
        Lanes squares{}, products{};
        for (std::size_t i = 0; i < N; i += lanes) {
            for (std::size_t l = 0; l < lanes; ++l) {
                const int shifted = nearestCode(values[i + l] * inverse + levels, 2.0F * levels - 1.0F);
                const float code = static_cast<float>(shifted) - levels;
                squares[l] += code * code;
                products[l] += code * values[i + l];
            }
        }
        const float qq = sumOf(squares), qx = sumOf(products);
        if (qq > 0.0F && qx * qx > bestGain * qq) {
            bestGain = qx * qx / qq;
            best = qx / qq;
        }
    }
    return best;
}

}  // namespace firsttoken::engine
