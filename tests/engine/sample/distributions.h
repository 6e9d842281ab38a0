#pragma once

#include <QtTest>
#include <cmath>
#include <vector>

#include "engine/sample/sampler.h"

namespace firsttoken::tests {

/// Settings in which every filter and penalty is off and the temperature is 1.
inline engine::SamplingSettings plainSettings() {
    engine::SamplingSettings settings;
    settings.temperature = 1;
    return settings;
}

inline std::vector<float> logitsOf(const std::vector<double>& probabilities) {
    std::vector<float> logits;
    for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
    return logits;
}

using Expected = std::vector<engine::TokenProbability>;

/// Fails the running test unless the sampler's distribution is `expected`, each probability within 2e-6.
inline void compareDistribution(const engine::SamplingSettings& settings, const std::vector<float>& logits,
                                const std::vector<engine::TokenId>& history, const Expected& expected) {
    engine::Sampler sampler(settings, 1);
    const auto got = sampler.distribution(logits, history);
    QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
    QCOMPARE(got->size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        QCOMPARE((*got)[i].id, expected[i].id);
        const auto text = std::to_string((*got)[i].id) + ": " + std::to_string((*got)[i].probability) + " not " +
                          std::to_string(expected[i].probability);
        QVERIFY2(std::abs((*got)[i].probability - expected[i].probability) < 2e-6, text.c_str());
    }
}

}  // namespace firsttoken::tests
