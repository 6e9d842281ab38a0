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

/// Weights each square by root mean square + |value|: errors of large values cost more.
template <std::size_t N>
AffineFit fitAffine(const float* values, const AffineSearch& search) {
    static_assert(N % lanes == 0);
    float least = 0.0F, greatest = values[0];
    Lanes squares{};
    for (std::size_t i = 0; i < N; i += lanes) {
        for (std::size_t l = 0; l < lanes; ++l) squares[l] += values[i + l] * values[i + l];
    }
    for (std::size_t i = 0; i < N; ++i) {
        least = std::min(least, values[i]);
        greatest = std::max(greatest, values[i]);
    }
    const float range = greatest - least;
    // No search where there is nothing to choose, or where the squares would not be finite.
    if (!(range > 0.0F) || !(range < 1e18F)) return {range / search.levels, -least};
    const float spread = std::sqrt(sumOf(squares) / static_cast<float>(N));

    std::array<float, N> weights;
    Lanes weightSum{}, valueSum{};
    for (std::size_t i = 0; i < N; i += lanes) {
        for (std::size_t l = 0; l < lanes; ++l) {
            weights[i + l] = spread + std::abs(values[i + l]);
            weightSum[l] += weights[i + l];
            valueSum[l] += weights[i + l] * values[i + l];
        }
    }
    const float sw = sumOf(weightSum), sx = sumOf(valueSum);

    AffineFit best{range / search.levels, -least};
    float bestGain = -1.0F;
    for (int step = 0; step <= search.steps; ++step) {
        const float inverse = (search.levels + search.firstStep + 0.1F * static_cast<float>(step)) / range;
        Lanes codeSum{}, codeSquares{}, products{};
        for (std::size_t i = 0; i < N; i += lanes) {
            for (std::size_t l = 0; l < lanes; ++l) {
                const auto code = static_cast<float>(nearestCode((values[i + l] - least) * inverse, search.levels));
                const float weighted = weights[i + l] * code;
                codeSum[l] += weighted;
                codeSquares[l] += weighted * code;
                products[l] += weighted * values[i + l];
            }
        }
        const float sq = sumOf(codeSum), sqq = sumOf(codeSquares), sqx = sumOf(products);
        const float determinant = sw * sqq - sq * sq;
        if (!(determinant > 0.0F)) continue;
        float scale = (sw * sqx - sq * sx) / determinant;
        float offset = (sqq * sx - sq * sqx) / determinant;
        if (offset > 0.0F) {
            offset = 0.0F;
            scale = sqx / sqq;
        }
        // By how much the fit lowers the weighted sum of squares.
        const float gain = scale * sqx + offset * sx;
        if (scale > 0.0F && gain > bestGain) {
            bestGain = gain;
            best = {scale, -offset};
        }
    }
    return best;
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
