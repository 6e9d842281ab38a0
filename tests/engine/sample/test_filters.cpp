#include "tests/engine/sample/distributions.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using engine::TokenId;
using tests::compareDistribution;
using tests::logitsOf;
using tests::plainSettings;

/// Each filter alone, then their order, against distributions computed by hand.
class TestFilters : public QObject {
    Q_OBJECT

private slots:
    void nothingOnIsSoftmax() {
        compareDistribution(plainSettings(), logitsOf({0.5, 0.2, 0.3}), {}, {{0, 0.5}, {1, 0.2}, {2, 0.3}});
    }

    void temperatureDividesLogits() {
        auto settings = plainSettings();
        settings.temperature = 0.5;  // squares: .25 .04 .09 over .38
        compareDistribution(settings, logitsOf({0.5, 0.2, 0.3}), {},
                            {{0, 0.25 / 0.38}, {1, 0.04 / 0.38}, {2, 0.09 / 0.38}});
        settings.temperature = 2;  // square roots
        const double sum = std::sqrt(0.64) + std::sqrt(0.36);
        compareDistribution(settings, logitsOf({0.64, 0.36}), {}, {{0, 0.8 / sum}, {1, 0.6 / sum}});
    }

    void minPIsRelativeToTheLargest() {
        auto settings = plainSettings();
        settings.minP = 0.5;  // keeps p >= 0.2; an exact hit stays
        compareDistribution(settings, logitsOf({0.1, 0.4, 0.2, 0.3}), {},
                            {{1, 0.4 / 0.9}, {2, 0.2 / 0.9}, {3, 0.3 / 0.9}});
        settings.minP = 1;
        compareDistribution(settings, logitsOf({0.1, 0.4, 0.4, 0.1}), {}, {{1, 0.5}, {2, 0.5}});
    }

    void topKKeepsTheMostLikely() {
        auto settings = plainSettings();
        settings.topK = 2;
        compareDistribution(settings, logitsOf({0.1, 0.4, 0.2, 0.3}), {}, {{1, 4.0 / 7}, {3, 3.0 / 7}});
        settings.topK = 1;
        compareDistribution(settings, logitsOf({0.1, 0.4, 0.2, 0.3}), {}, {{1, 1}});
        settings.topK = 4;
        compareDistribution(settings, logitsOf({0.1, 0.4, 0.2, 0.3}), {}, {{0, 0.1}, {1, 0.4}, {2, 0.2}, {3, 0.3}});
        settings.topK = 1'000'000;
        compareDistribution(settings, logitsOf({0.25, 0.75}), {}, {{0, 0.25}, {1, 0.75}});
    }

    void topKBreaksTiesByLowestId() {
        auto settings = plainSettings();
        settings.topK = 2;
        compareDistribution(settings, {1, 1, 1, 1, 1}, {}, {{0, 0.5}, {1, 0.5}});
        settings.topK = 3;
        compareDistribution(settings, logitsOf({0.2, 0.2, 0.2, 0.4}), {}, {{0, 0.25}, {1, 0.25}, {3, 0.5}});
    }

    void topPKeepsTheSmallestSet() {
        auto settings = plainSettings();
        settings.topP = 0.6;  // .4 + .3
        compareDistribution(settings, logitsOf({0.1, 0.4, 0.2, 0.3}), {}, {{1, 4.0 / 7}, {3, 3.0 / 7}});
        settings.topP = 0.7;  // reached exactly by the same two
        compareDistribution(settings, logitsOf({0.1, 0.4, 0.2, 0.3}), {}, {{1, 4.0 / 7}, {3, 3.0 / 7}});
        settings.topP = 0.71;
        compareDistribution(settings, logitsOf({0.1, 0.4, 0.2, 0.3}), {}, {{1, 4.0 / 9}, {2, 2.0 / 9}, {3, 3.0 / 9}});
        settings.topP = 0.0;
        compareDistribution(settings, logitsOf({0.1, 0.4, 0.2, 0.3}), {}, {{1, 1}});
    }

    void topPBreaksTiesByLowestId() {
        auto settings = plainSettings();
        settings.topP = 0.5;
        compareDistribution(settings, {0, 0, 0, 0}, {}, {{0, 0.5}, {1, 0.5}});
    }

    void typicalKeepsTheExpectedInformation() {
        // p = 1/2, 1/4, 1/8, 1/8: information 1, 2, 3, 3 bits, entropy 1.75: the nearest is the second (0.25),
        // then the first (0.75), then the two last (1.25).
        auto settings = plainSettings();
        const auto logits = logitsOf({0.5, 0.25, 0.125, 0.125});
        settings.typicalP = 0.2;
        compareDistribution(settings, logits, {}, {{1, 1}});
        settings.typicalP = 0.5;
        compareDistribution(settings, logits, {}, {{0, 2.0 / 3}, {1, 1.0 / 3}});
        settings.typicalP = 0.8;
        compareDistribution(settings, logits, {}, {{0, 4.0 / 7}, {1, 2.0 / 7}, {2, 1.0 / 7}});
        settings.typicalP = 0.95;
        compareDistribution(settings, logits, {}, {{0, 0.5}, {1, 0.25}, {2, 0.125}, {3, 0.125}});
    }

    void biasAddsBeforePenalties() {
        auto settings = plainSettings();
        settings.logitBias = {{0, 2.0}, {1, -100.0}, {77, 5.0}, {-3, 5.0}};
        settings.repetitionPenalty = 2;
        // 0: (-1 + 2) / 2 = 0.5 (not -1 * 2 + 2 = 0); 1: gone; 2: 0.
        const double first = std::exp(0.5);
        compareDistribution(settings, {-1, 0, 0}, {0}, {{0, first / (first + 1)}, {2, 1 / (first + 1)}});
    }

    void temperatureActsBeforeMinP() {
        auto settings = plainSettings();
        settings.temperature = 0.5;
        settings.minP = 0.3;  // .4 .3 .2 .1 squared: relative 1, .5625, .25, .0625; without temperature .2 would stay
        compareDistribution(settings, logitsOf({0.4, 0.3, 0.2, 0.1}), {}, {{0, 0.64}, {1, 0.36}});
    }

    void typicalActsAfterTopK() {
        // After top-k 2 of {.5 .25 .125 .125}: 2/3, 1/3: mean distance ln2/3; deviations ln2/3 and 2 ln2/3, so the
        // first is the most typical. Before top-k it would be the second.
        auto settings = plainSettings();
        settings.topK = 2;
        settings.typicalP = 0.2;
        compareDistribution(settings, logitsOf({0.5, 0.25, 0.125, 0.125}), {}, {{0, 1}});
    }

    void topPActsAfterTypical() {
        // Typical 0.2 leaves the second alone; top-p first would have left the first alone.
        auto settings = plainSettings();
        settings.typicalP = 0.2;
        settings.topP = 0.4;
        compareDistribution(settings, logitsOf({0.5, 0.25, 0.125, 0.125}), {}, {{1, 1}});
    }

    void topPSeesRenormalisedSurvivors() {
        auto settings = plainSettings();
        settings.topK = 2;
        settings.topP = 0.55;  // 4/7 reaches it; of the whole vocabulary .4 does not
        compareDistribution(settings, logitsOf({0.1, 0.4, 0.2, 0.3}), {}, {{1, 1}});
    }

    void topPAgreesWithAFullSort() {
        std::vector<float> logits;
        for (int i = 0; i < 50'000; ++i) {
            logits.push_back(static_cast<float>(8 * std::sin(i * 0.7) + 3 * std::cos(i * 12.9898)));
        }
        std::vector<std::pair<float, TokenId>> sorted;
        double total = 0;
        for (std::size_t i = 0; i < logits.size(); ++i) {
            sorted.emplace_back(-logits[i], static_cast<TokenId>(i));
            total += std::exp(static_cast<double>(logits[i]));
        }
        std::sort(sorted.begin(), sorted.end());
        for (const double topP : {0.01, 0.3, 0.9, 0.999}) {
            auto settings = plainSettings();
            settings.topP = topP;
            engine::Sampler sampler(settings, 1);
            const auto got = sampler.distribution(logits, {});
            QVERIFY(got.ok());
            std::vector<TokenId> expected;
            double mass = 0;
            double massBeforeLast = 0;
            for (std::size_t i = 0; i < got->size(); ++i) {
                expected.push_back(sorted[i].second);
                massBeforeLast = mass;
                mass += std::exp(-static_cast<double>(sorted[i].first)) / total;
            }
            std::sort(expected.begin(), expected.end());
            std::vector<TokenId> ids;
            for (const auto& entry : *got) ids.push_back(entry.id);
            QVERIFY(ids == expected);
            QVERIFY(mass >= topP - 2e-6);
            QVERIFY(massBeforeLast < topP);
        }
    }

    void topKAgreesWithAFullSort() {
        std::vector<float> logits;
        for (int i = 0; i < 30'000; ++i) logits.push_back(static_cast<float>((i * 7919) % 977) * 0.05F);
        logits[123] = -1e30F;
        for (const std::int64_t k : {1, 40, 1000, 29'000}) {
            auto settings = plainSettings();
            settings.topK = k;
            std::vector<std::pair<float, TokenId>> sorted;
            for (std::size_t i = 0; i < logits.size(); ++i) sorted.emplace_back(-logits[i], static_cast<TokenId>(i));
            std::sort(sorted.begin(), sorted.end());
            std::vector<TokenId> expected;
            for (std::int64_t i = 0; i < k; ++i) expected.push_back(sorted[static_cast<std::size_t>(i)].second);
            std::sort(expected.begin(), expected.end());
            engine::Sampler sampler(settings, 1);
            const auto got = sampler.distribution(logits, {});
            QVERIFY(got.ok());
            std::vector<TokenId> ids;
            for (const auto& entry : *got) ids.push_back(entry.id);
            QVERIFY(ids == expected);
        }
    }

    void weightsAreExact() {
        std::vector<float> logits;
        for (int i = 0; i < 4'000; ++i) logits.push_back(-0.01F * static_cast<float>(i));
        double total = 0;
        for (const float logit : logits) total += std::exp(static_cast<double>(logit));
        engine::Sampler sampler(plainSettings(), 1);
        const auto got = sampler.distribution(logits, {});
        QVERIFY(got.ok());
        QCOMPARE(got->size(), logits.size());
        for (std::size_t i = 0; i < logits.size(); ++i) {
            const double exact = std::exp(static_cast<double>(logits[i])) / total;
            QVERIFY(std::abs((*got)[i].probability / exact - 1) < 1e-6);
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestFilters);
#include "test_filters.moc"
