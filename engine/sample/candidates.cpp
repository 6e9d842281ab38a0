#include "engine/sample/candidates.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace firsttoken::engine {

namespace {

constexpr float farthest = 60.0F;
constexpr std::size_t buckets = 1024;
constexpr std::size_t lane = 16;
constexpr std::size_t sumBlock = 256;
/// Weights are good to 3e-7: a mass that is reached in exact arithmetic counts as reached.
constexpr double slack = 1.0 - 1e-6;

/// exp(-distance) for 0 <= distance <= 80, relative error below 3e-7: e^-d = 2^k e^r with |r| <= ln(2) / 2. Plain
/// multiplies and adds, so that every machine and instruction set gets the same bits.
inline float expOfMinus(float distance) {
    const auto k = static_cast<std::int32_t>(distance * -1.44269504F - 0.5F);  // rounds: the value is <= -0.5
    const auto whole = static_cast<float>(k);
    const float r = (-distance - whole * 0.693359375F) - whole * -2.12194440e-4F;
    float sum = 1.0F / 5040.0F;
    sum = sum * r + 1.0F / 720.0F;
    sum = sum * r + 1.0F / 120.0F;
    sum = sum * r + 1.0F / 24.0F;
    sum = sum * r + 1.0F / 6.0F;
    sum = sum * r + 0.5F;
    sum = sum * r + 1.0F;
    sum = sum * r + 1.0F;
    return sum * std::bit_cast<float>((k + 127) << 23);
}

/// Sum in double by four interleaved lanes: one fixed order, whatever the compiler does.
double sumOf(std::span<const float> values) {
    std::array<double, 4> sums{};
    std::size_t i = 0;
    for (; i + 4 <= values.size(); i += 4) {
        for (std::size_t j = 0; j < 4; ++j) sums[j] += static_cast<double>(values[i + j]);
    }
    for (; i < values.size(); ++i) sums[0] += static_cast<double>(values[i]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

void Candidates::gather(std::span<const float> logits, float largest, double temperature, double minP) {
    m_ids.resize(logits.size());
    m_distances.resize(logits.size());
    m_weights.clear();
    const auto inverse = static_cast<float>(std::min(1.0 / temperature, 1e30));
    const double limit = minP > 0 ? std::max(0.0, -std::log(minP)) : static_cast<double>(farthest);
    // Rounded up by one place: a token that equals the limit in exact arithmetic stays.
    const float cut = std::min(farthest, std::nextafter(static_cast<float>(limit), farthest));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const float distance = (largest - logits[i]) * inverse;
        m_ids[kept] = static_cast<std::int32_t>(i);
        m_distances[kept] = distance;
        kept += distance <= cut ? 1U : 0U;
    }
    m_ids.resize(kept);
    m_distances.resize(kept);
}

void Candidates::keepTopK(std::size_t count) {
    if (count >= size()) return;
    keepPrefix(m_distances, {}, static_cast<double>(count));
}

void Candidates::weigh() {
    m_weights.resize(size());
    std::size_t i = 0;
    for (; i + lane <= size(); i += lane) {  // a constant count, which every optimisation level turns into vectors
        std::array<float, lane> results;
        for (std::size_t j = 0; j < lane; ++j) results[j] = expOfMinus(m_distances[i + j]);
        std::copy(results.begin(), results.end(), m_weights.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (; i < size(); ++i) m_weights[i] = expOfMinus(m_distances[i]);
}

void Candidates::keepTypical(double mass) {
    // With p = w / Z: information -log p = distance + log Z, entropy = mean distance + log Z; log Z cancels.
    const double total = totalWeight();
    double weighted = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        weighted += static_cast<double>(m_weights[i]) * static_cast<double>(m_distances[i]);
    }
    const auto meanDistance = static_cast<float>(weighted / total);
    m_keys.resize(size());
    for (std::size_t i = 0; i < size(); ++i) m_keys[i] = std::abs(m_distances[i] - meanDistance);
    keepPrefix(m_keys, m_weights, mass * slack * total);
}

void Candidates::keepTopP(double mass) { keepPrefix(m_distances, m_weights, mass * slack * totalWeight()); }

double Candidates::totalWeight() {
    m_blockSums.clear();
    double total = 0;
    const std::span<const float> weights = m_weights;
    for (std::size_t i = 0; i < weights.size(); i += sumBlock) {
        m_blockSums.push_back(sumOf(weights.subspan(i, std::min(sumBlock, weights.size() - i))));
        total += m_blockSums.back();
    }
    return total;
}

std::size_t Candidates::placeAt(double target) const {
    double sum = 0;
    std::size_t block = 0;
    while (block + 1 < m_blockSums.size() && sum + m_blockSums[block] <= target) sum += m_blockSums[block++];
    std::size_t place = block * sumBlock;
    const std::size_t end = std::min(place + sumBlock, size());
    for (; place + 1 < end; ++place) {
        sum += static_cast<double>(m_weights[place]);
        if (sum > target) break;
    }
    return place;
}

void Candidates::keepPrefix(std::span<const float> keys, std::span<const float> weights, double target) {
    if (keys.empty()) return;
    const auto weightOf = [&](std::size_t i) { return weights.empty() ? 1.0 : static_cast<double>(weights[i]); };
    const float largestKey = *std::max_element(keys.begin(), keys.end());
    const float scale = largestKey > 0 ? static_cast<float>(buckets - 1) / largestKey : 0.0F;
    const auto bucketOf = [&](std::size_t i) {
        return std::min(buckets - 1, static_cast<std::size_t>(static_cast<std::int32_t>(keys[i] * scale)));
    };

    m_bucketMass.assign(buckets, 0.0);
    for (std::size_t i = 0; i < keys.size(); ++i) m_bucketMass[bucketOf(i)] += weightOf(i);
    double before = 0;
    std::size_t cutBucket = 0;
    while (cutBucket < buckets && (m_bucketMass[cutBucket] <= 0 || before + m_bucketMass[cutBucket] < target)) {
        before += m_bucketMass[cutBucket++];
    }
    if (cutBucket == buckets) return;  // the target is the whole sum, up to rounding

    m_inBucket.clear();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (bucketOf(i) == cutBucket) m_inBucket.push_back(i);
    }
    const auto precedes = [&](std::size_t a, std::size_t b) {
        return keys[a] < keys[b] || (keys[a] == keys[b] && a < b);  // places ascend by id
    };
    std::sort(m_inBucket.begin(), m_inBucket.end(), precedes);
    std::size_t last = m_inBucket.front();
    for (const std::size_t i : m_inBucket) {
        last = i;
        before += weightOf(i);
        if (before >= target) break;
    }

    const float lastKey = keys[last];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        // `keys` and `weights` may be the arrays written here: a place is read before it can be overwritten.
        const bool keep = keys[i] < lastKey || (keys[i] == lastKey && i <= last);
        m_ids[kept] = m_ids[i];
        m_distances[kept] = m_distances[i];
        if (!m_weights.empty()) m_weights[kept] = m_weights[i];
        kept += keep ? 1U : 0U;
    }
    m_ids.resize(kept);
    m_distances.resize(kept);
    if (!m_weights.empty()) m_weights.resize(kept);
}

}  // namespace firsttoken::engine
