#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/profile.h"
#include "engine/result.h"
#include "engine/sample/candidates.h"

namespace firsttoken::engine {

using TokenId = std::int32_t;

struct TokenProbability {
    TokenId id = 0;
    double probability = 0;
    bool operator==(const TokenProbability&) const = default;
};

/// Picks tokens for one sequence. Order: logit bias, penalties, temperature, min-p, top-k, typical-p, top-p; each
/// filter sees the renormalised survivors of those before it. At temperature 0 bias and penalties act, then the
/// largest logit wins, the lowest id first. Ties are broken by id everywhere. `never` beats bias.
/// Penalties: the logit of an id seen n > 0 times is divided (> 0) or multiplied (< 0) by repetitionPenalty (0 and 1:
/// off), then lowered by n * frequencyPenalty + presencePenalty. Ids outside the vocabulary are ignored.
/// Randomness is counter-based: a pure function of (seed, output index), whatever runs beside it.
/// Owned by one sequence, used on the engine loop's thread.
class Sampler {
public:
    /// `seed` acts when settings.seed is unset. `never`: ids masked out (lives longer than the sampler).
    Sampler(const SamplingSettings& settings, std::uint64_t seed, std::span<const TokenId> never = {});

    /// logits: one value a vocabulary row; not changed. `history`: the tokens that penalties count (prompt and
    /// output). `index`: number of output tokens so far.
    /// Errors: Internal if no finite logit remains (NaN or +inf anywhere, or all -inf).
    Result<TokenId> sample(std::span<const float> logits, std::span<const TokenId> history, std::uint64_t index);

    /// What sample() draws from: the tokens that the filters leave, ascending by id, probabilities adding up to 1.
    /// Errors as sample().
    Result<std::vector<TokenProbability>> distribution(std::span<const float> logits, std::span<const TokenId> history);

    const SamplingSettings& settings() const { return m_settings; }

private:
    bool changesLogits() const;
    bool penalises() const;
    /// Fills m_logits with what temperature and filters work on.
    void adjust(std::span<const float> logits, std::span<const TokenId> history);
    void countHistory(std::span<const TokenId> history);
    void penalise();
    /// The token at temperature 0; empty where m_candidates holds what to draw from.
    Result<std::optional<TokenId>> filter(std::span<const float> logits, std::span<const TokenId> history);

    SamplingSettings m_settings;
    std::uint64_t m_seed;
    std::span<const TokenId> m_never;
    std::vector<float> m_logits;     ///< scratch
    Candidates m_candidates;         ///< scratch
    std::vector<TokenId> m_counted;  ///< the history that m_counts holds
    std::unordered_map<TokenId, std::uint32_t> m_counts;
};

/// Argmax; the lowest id wins a tie. Errors as Sampler::sample.
Result<TokenId> greedyToken(std::span<const float> logits, std::span<const TokenId> never = {});

}  // namespace firsttoken::engine
