#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace firsttoken::engine {

/// What the filters have left of the vocabulary: parallel arrays, always ascending by id. Every filter orders by
/// (key, id), a total order, so that no result depends on a sorting algorithm. Cost: one pass over the vocabulary,
/// then passes over what is left; only the candidates around a filter's cut are sorted.
class Candidates {
public:
    /// Takes the finite `logits`, divided by `temperature` (> 0), that min-p keeps: probability >= minP times the
    /// largest. `largest` is the largest logit. Tokens less likely than the largest by a factor of e^60 are left out:
    /// all of them together are less than half of the last bit of the sum.
    void gather(std::span<const float> logits, float largest, double temperature, double minP);
    /// The `count` most likely.
    void keepTopK(std::size_t count);
    /// Computes weights; before keepTypical() and keepTopP().
    void weigh();
    /// The smallest set, nearest to the expected information content first, that holds `mass` of the probability
    /// (locally typical sampling; Meister, Pimentel, Wiher, Cotterell, 2022).
    void keepTypical(double mass);
    /// The smallest set, most likely first, that holds `mass` of the probability.
    void keepTopP(double mass);

    std::size_t size() const { return m_ids.size(); }
    std::int32_t id(std::size_t place) const { return m_ids[place]; }
    /// Relative to the most likely token of the vocabulary.
    float weight(std::size_t place) const { return m_weights[place]; }
    /// Sum of all weights.
    double totalWeight();
    /// The place where the running sum of weights first exceeds `target` (0 <= target < totalWeight()). Valid after
    /// totalWeight().
    std::size_t placeAt(double target) const;

private:
    /// Keeps the shortest prefix in order of (keys, id) whose weights reach `target`; at least one candidate.
    void keepPrefix(std::span<const float> keys, std::span<const float> weights, double target);

    std::vector<std::int32_t> m_ids;
    std::vector<float> m_distances;       ///< (largest logit - logit) / temperature, >= 0
    std::vector<float> m_weights;         ///< exp(-distance); as long as m_ids after weigh()
    std::vector<float> m_keys;            ///< scratch
    std::vector<double> m_bucketMass;     ///< scratch of keepPrefix()
    std::vector<std::size_t> m_inBucket;  ///< scratch of keepPrefix()
    std::vector<double> m_blockSums;      ///< of totalWeight()
};

}  // namespace firsttoken::engine
