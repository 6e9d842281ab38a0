#include "engine/sample/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "engine/sample/random.h"

namespace firsttoken::engine {

namespace {

constexpr float minusInfinity = -std::numeric_limits<float>::infinity();

Error badLogits(const char* what) { return {ErrorCode::Internal, std::string("the model's logits ") + what}; }

/// The largest value. Errors: NaN or +inf anywhere, or nothing but -inf.
Result<float> largestLogit(std::span<const float> logits) {
    constexpr std::size_t lanes = 8;
    std::array<float, lanes> best;
    best.fill(minusInfinity);
    std::array<bool, lanes> bad{};
    std::size_t i = 0;
    for (; i + lanes <= logits.size(); i += lanes) {
        for (std::size_t j = 0; j < lanes; ++j) {
            const float value = logits[i + j];
            bad[j] |= !(value <= std::numeric_limits<float>::max());
            best[j] = value > best[j] ? value : best[j];
        }
    }
    for (; i < logits.size(); ++i) {
        bad[0] |= !(logits[i] <= std::numeric_limits<float>::max());
        best[0] = std::max(best[0], logits[i]);
    }
    if (std::find(bad.begin(), bad.end(), true) != bad.end()) return badLogits("hold NaN or infinity");
    const float largest = *std::max_element(best.begin(), best.end());
    if (largest == minusInfinity) return badLogits("leave no token to sample");
    return largest;
}

TokenId firstOf(std::span<const float> logits, float value) {
    return static_cast<TokenId>(std::find(logits.begin(), logits.end(), value) - logits.begin());
}

bool within(TokenId id, std::span<const float> logits) {
    return id >= 0 && static_cast<std::size_t>(id) < logits.size();
}

void mask(std::span<float> logits, std::span<const TokenId> never) {
    for (const TokenId id : never) {
        if (within(id, logits)) logits[static_cast<std::size_t>(id)] = minusInfinity;
    }
}

}  // namespace

Result<TokenId> greedyToken(std::span<const float> logits, std::span<const TokenId> never) {
    const auto largest = largestLogit(logits);
    if (!largest) return largest.error();
    const TokenId first = firstOf(logits, *largest);
    if (std::find(never.begin(), never.end(), first) == never.end()) return first;
    std::vector<float> masked(logits.begin(), logits.end());
    mask(masked, never);
    const auto allowed = largestLogit(masked);
    if (!allowed) return allowed.error();
    return firstOf(masked, *allowed);
}

Sampler::Sampler(const SamplingSettings& settings, std::uint64_t seed, std::span<const TokenId> never)
    : m_settings(settings), m_seed(settings.seed.value_or(seed)), m_never(never) {}

Result<TokenId> Sampler::sample(std::span<const float> logits, std::span<const TokenId> history, std::uint64_t index) {
    const auto greedy = filter(logits, history);
    if (!greedy) return greedy.error();
    if (greedy->has_value()) return **greedy;
    const double target = counterUniform(m_seed, index) * m_candidates.totalWeight();
    return m_candidates.id(m_candidates.placeAt(target));
}

Result<std::vector<TokenProbability>> Sampler::distribution(std::span<const float> logits,
                                                            std::span<const TokenId> history) {
    const auto greedy = filter(logits, history);
    if (!greedy) return greedy.error();
    if (greedy->has_value()) return std::vector<TokenProbability>{{**greedy, 1.0}};
    const double total = m_candidates.totalWeight();
    std::vector<TokenProbability> result(m_candidates.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = {m_candidates.id(i), static_cast<double>(m_candidates.weight(i)) / total};
    }
    return result;
}

Result<std::optional<TokenId>> Sampler::filter(std::span<const float> logits, std::span<const TokenId> history) {
    const bool greedy = !(m_settings.temperature > 0);
    if (greedy && !changesLogits()) {
        const auto token = greedyToken(logits, m_never);
        if (!token) return token.error();
        return std::optional(*token);
    }
    if (const auto given = largestLogit(logits); !given) return given.error();
    adjust(logits, history);
    const auto largest = largestLogit(m_logits);
    if (!largest) return largest.error();
    if (greedy) return std::optional(firstOf(m_logits, *largest));

    m_candidates.gather(m_logits, *largest, m_settings.temperature, m_settings.minP);
    if (m_settings.topK > 0) m_candidates.keepTopK(static_cast<std::size_t>(m_settings.topK));
    m_candidates.weigh();
    if (m_settings.typicalP < 1) m_candidates.keepTypical(std::max(0.0, m_settings.typicalP));
    if (m_settings.topP < 1) m_candidates.keepTopP(std::max(0.0, m_settings.topP));
    return std::optional<TokenId>();
}

bool Sampler::changesLogits() const { return penalises() || !m_settings.logitBias.empty(); }

bool Sampler::penalises() const {
    const bool repetition = m_settings.repetitionPenalty > 0 && m_settings.repetitionPenalty != 1;
    return repetition || m_settings.frequencyPenalty != 0 || m_settings.presencePenalty != 0;
}

void Sampler::adjust(std::span<const float> logits, std::span<const TokenId> history) {
    m_logits.assign(logits.begin(), logits.end());
    for (const auto& [id, bias] : m_settings.logitBias) {
        if (within(id, m_logits)) m_logits[static_cast<std::size_t>(id)] += static_cast<float>(bias);
    }
    if (penalises()) {
        countHistory(history);
        penalise();
    }
    mask(m_logits, m_never);
}

void Sampler::countHistory(std::span<const TokenId> history) {
    // A history only grows, so that each step counts its new tokens; any other history is counted afresh.
    const bool grew =
        history.size() >= m_counted.size() && std::equal(m_counted.begin(), m_counted.end(), history.begin());
    if (!grew) {
        m_counts.clear();
        m_counted.clear();
    }
    for (const TokenId id : history.subspan(m_counted.size())) ++m_counts[id];
    m_counted.insert(m_counted.end(), history.begin() + static_cast<std::ptrdiff_t>(m_counted.size()), history.end());
}

void Sampler::penalise() {
    const double repetition = m_settings.repetitionPenalty > 0 ? m_settings.repetitionPenalty : 1.0;
    for (const auto& [id, count] : m_counts) {
        if (!within(id, m_logits)) continue;
        float& logit = m_logits[static_cast<std::size_t>(id)];
        double value = static_cast<double>(logit);
        value = value > 0 ? value / repetition : value * repetition;
        value -= static_cast<double>(count) * m_settings.frequencyPenalty + m_settings.presencePenalty;
        logit = static_cast<float>(value);
    }
}

}  // namespace firsttoken::engine
