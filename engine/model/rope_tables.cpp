#include "engine/model/rope_tables.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace firsttoken::engine {

namespace {

constexpr double yarnBetaFast = 32.0, yarnBetaSlow = 1.0;

/// The (fractional) dimension whose wave turns `turns` times over the original context.
double yarnDimension(const RopeParameters& rope, double turns) {
    return rope.dimensions * std::log(rope.originalContext / (turns * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(rope.base));
}

/// By what the frequency of pair i is multiplied: 1 below `low` (fast waves), 1/factor above `high`.
struct YarnRamp {
    double low, high, slow;

    explicit YarnRamp(const RopeParameters& rope)
        : low(std::max(0.0, std::floor(yarnDimension(rope, yarnBetaFast)))),
          high(std::min(rope.dimensions - 1.0, std::ceil(yarnDimension(rope, yarnBetaSlow)))),
          slow(1.0 / rope.factor) {}

    double at(std::size_t i) const {
        const double kept = 1.0 - std::clamp((static_cast<double>(i) - low) / std::max(0.001, high - low), 0.0, 1.0);
        return slow * (1.0 - kept) + kept;
    }
};

}  // namespace

RopeTable ropeTable(const RopeParameters& rope, RopePairing pairing, std::span<const float> factors) {
    const bool yarn = rope.scaling == RopeScaling::Yarn;
    const YarnRamp ramp(rope);
    RopeTable table;
    table.pairing = pairing;
    table.magnitude = static_cast<float>(rope.attentionFactor * (yarn ? 0.1 * std::log(rope.factor) + 1.0 : 1.0));
    for (std::size_t i = 0; i < rope.dimensions / 2; ++i) {
        const double plain = std::pow(rope.base, -2.0 * static_cast<double>(i) / rope.dimensions);
        const double divisor = factors.empty() ? 1.0 : static_cast<double>(factors[i]);
        table.inverseFrequency.push_back(plain / divisor * (yarn ? ramp.at(i) : 1.0 / rope.factor));
    }
    return table;
}

}  // namespace firsttoken::engine
