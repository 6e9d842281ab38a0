#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "engine/statistics.h"

namespace firsttoken::engine {

namespace {

/// Below it, relative to the values, a spread is the rounding of the logarithms.
constexpr double noSpread = 1e-12;

struct Arm {
    std::vector<double> values;  ///< of the logarithms, or as they are
    double mean = 0;
    double variance = 0;  ///< of one run; 0 for one run
};

Arm armOf(std::span<const RunValue> runs, bool logarithmic) {
    Arm arm;
    for (const RunValue& run : runs) arm.values.push_back(logarithmic ? std::log(run.value) : run.value);
    arm.mean = mean(arm.values).value_or(0);
    if (arm.values.size() < 2) return arm;
    for (const double value : arm.values) arm.variance += (value - arm.mean) * (value - arm.mean);
    arm.variance /= static_cast<double>(arm.values.size() - 1);
    return arm;
}

using Blocks = std::map<std::uint64_t, std::pair<std::size_t, std::size_t>>;  ///< runs of A and of B

Blocks blocksOf(std::span<const RunValue> a, std::span<const RunValue> b) {
    Blocks blocks;
    for (const RunValue& run : a) ++blocks[run.block].first;
    for (const RunValue& run : b) ++blocks[run.block].second;
    const bool even = std::all_of(blocks.begin(), blocks.end(), [&](const auto& block) {
        return block.second.first * b.size() == block.second.second * a.size();
    });
    if (even && !blocks.empty()) return blocks;
    return {{0, {a.size(), b.size()}}};  // effects of blocks and arms cannot be told apart: blocks are noise
}

/// Standard error of the difference of the means, the spread of a run, and their degrees of freedom.
struct Noise {
    double error = 0;
    double spread = 0;
    double freedom = 0;
};

/// Welch's test, whose arms may differ in their spread.
Noise noiseOfArms(const Arm& a, const Arm& b) {
    const auto countA = static_cast<double>(a.values.size());
    const auto countB = static_cast<double>(b.values.size());
    const double partA = a.variance / countA;
    const double partB = b.variance / countB;
    Noise noise;
    noise.error = std::sqrt(partA + partB);
    noise.spread =
        std::sqrt((a.variance * (countA - 1) + b.variance * (countB - 1)) / std::max(countA + countB - 2, 1.0));
    noise.freedom = countA + countB - 2;
    const double denominator = partA * partA / (countA - 1) + partB * partB / (countB - 1);
    if (denominator > 0) noise.freedom = (partA + partB) * (partA + partB) / denominator;
    return noise;
}

/// Residuals of the additive model value = arm + block. Each block has the same share of both arms, so that the
/// effects are simply differences of means.
Noise noiseWithinBlocks(std::span<const RunValue> runsA, std::span<const RunValue> runsB, const Arm& a, const Arm& b,
                        std::size_t blocks) {
    std::map<std::uint64_t, std::vector<double>> effects;
    for (std::size_t i = 0; i < runsA.size(); ++i) effects[runsA[i].block].push_back(a.values[i] - a.mean);
    for (std::size_t i = 0; i < runsB.size(); ++i) effects[runsB[i].block].push_back(b.values[i] - b.mean);
    double squares = 0;
    for (const auto& [block, values] : effects) {
        const double effect = mean(values).value_or(0);
        for (const double value : values) squares += (value - effect) * (value - effect);
    }
    const auto countA = static_cast<double>(runsA.size());
    const auto countB = static_cast<double>(runsB.size());
    Noise noise;
    noise.freedom = countA + countB - static_cast<double>(blocks) - 1;
    if (noise.freedom < 1) return noise;
    noise.spread = std::sqrt(squares / noise.freedom);
    noise.error = noise.spread * std::sqrt(1 / countA + 1 / countB);
    return noise;
}

/// `shift`: b - a on the scale of the test, as a ratio minus 1. Empty where a is 0.
std::optional<double> relative(double shift, double a, bool logarithmic) {
    if (logarithmic) return std::expm1(shift);
    if (a == 0) return std::nullopt;
    return shift / std::abs(a);
}

void test(RunComparison& result, const Arm& a, const Arm& b, const Noise& noise, double confidence) {
    const double shift = b.mean - a.mean;
    const double scale = result.logarithmic ? 1 : std::max(std::abs(a.mean), std::abs(b.mean));
    result.freedom = noise.freedom;
    double half = 0;
    if (noise.spread <= noSpread * scale) {
        // No noise to measure by. Three equal values an arm are no accident (2 of 64 cases for a fair coin).
        if (std::min(result.runsA, result.runsB) < 3) return;
        result.pValue = std::abs(shift) <= noSpread * scale ? 1 : 0;
    } else {
        result.pValue = 2 * studentT(-std::abs(shift) / noise.error, noise.freedom);
        half = studentTQuantile((1 + confidence) / 2, noise.freedom) * noise.error;
    }
    result.spread = result.logarithmic ? noise.spread : noise.spread / std::abs(a.mean);
    if (!result.logarithmic && a.mean == 0) result.spread.reset();
    const auto low = relative(shift - half, a.mean, result.logarithmic);
    const auto high = relative(shift + half, a.mean, result.logarithmic);
    if (low && high) result.interval = Interval{*low, *high};
}

}  // namespace

RunComparison compareRuns(std::span<const RunValue> a, std::span<const RunValue> b, double confidence) {
    const auto positive = [](const RunValue& run) { return run.value > 0; };
    RunComparison result;
    result.runsA = a.size();
    result.runsB = b.size();
    result.logarithmic = std::all_of(a.begin(), a.end(), positive) && std::all_of(b.begin(), b.end(), positive);
    const Arm armA = armOf(a, result.logarithmic);
    const Arm armB = armOf(b, result.logarithmic);
    const auto original = [&](const Arm& arm) { return result.logarithmic ? std::exp(arm.mean) : arm.mean; };
    // One value is itself: exp(log(x)) would round.
    if (!a.empty()) result.a = a.size() == 1 ? a.front().value : original(armA);
    if (!b.empty()) result.b = b.size() == 1 ? b.front().value : original(armB);
    if (!result.a || !result.b) return result;
    if (*result.a != 0) result.difference = (*result.b - *result.a) / std::abs(*result.a);
    const Blocks blocks = blocksOf(a, b);
    result.blocks = blocks.size();
    if (std::min(a.size(), b.size()) < 2) return result;
    const Noise noise =
        blocks.size() == 1 ? noiseOfArms(armA, armB) : noiseWithinBlocks(a, b, armA, armB, blocks.size());
    if (noise.freedom >= 1) test(result, armA, armB, noise, confidence);
    return result;
}

std::optional<std::int64_t> runsForMargin(const RunComparison& comparison, double margin, double level, double power) {
    constexpr std::int64_t most = 1'000'000;
    if (!comparison.spread || !(margin > 0) || !(level > 0 && level < 1) || !(power > 0 && power < 1)) {
        return std::nullopt;
    }
    const double wanted = comparison.logarithmic ? std::log1p(margin) : margin;
    const double blocksPerRun =
        comparison.blocks <= 1 ? 0 : static_cast<double>(comparison.blocks) / static_cast<double>(comparison.runsA);
    const auto found = [&](std::int64_t runs) {
        const auto count = static_cast<double>(runs);
        const double freedom = 2 * count - std::max(1.0, std::ceil(blocksPerRun * count)) - 1;
        if (freedom < 1) return false;
        const double quantiles = studentTQuantile(1 - level / 2, freedom) + studentTQuantile(power, freedom);
        return quantiles * *comparison.spread * std::sqrt(2 / count) <= wanted;
    };
    if (!found(most)) return std::nullopt;
    std::int64_t low = 1;  // not enough
    std::int64_t high = most;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (found(middle) ? high : low) = middle;
    }
    return high;
}

}  // namespace firsttoken::engine
