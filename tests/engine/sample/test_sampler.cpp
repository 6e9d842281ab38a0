#include <limits>
#include <random>

#include "tests/engine/sample/distributions.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using engine::ErrorCode;
using engine::TokenId;
using tests::logitsOf;
using tests::plainSettings;

class TestSampler : public QObject {
    Q_OBJECT

    static constexpr float infinity = std::numeric_limits<float>::infinity();
    static constexpr float nan = std::numeric_limits<float>::quiet_NaN();

    static std::vector<float> noise(std::size_t count, unsigned seed) {
        std::mt19937 random(seed);
        std::normal_distribution<float> normal(0, 4);
        std::vector<float> logits(count);
        for (float& logit : logits) logit = normal(random);
        return logits;
    }

private slots:
    void greedyIsArgmaxLowestIdFirst() {
        QCOMPARE(*engine::greedyToken(std::vector<float>{1, 3, 3, 2}), 1);
        QCOMPARE(*engine::greedyToken(std::vector<float>{-infinity, -5, -infinity}), 1);
        const auto logits = noise(1'003, 5);
        const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
        QCOMPARE(*engine::greedyToken(logits), static_cast<TokenId>(best));
        auto settings = plainSettings();
        settings.temperature = 0;
        settings.topK = 40;
        settings.minP = 0.9;
        QCOMPARE(*engine::Sampler(settings, 1).sample(logits, {}, 0), static_cast<TokenId>(best));
    }

    void neverBeatsEverything() {
        const std::vector<TokenId> never = {1, 2, 900};
        const std::vector<float> logits = {1, 9, 9, 2};
        QCOMPARE(*engine::greedyToken(logits, never), 3);
        auto settings = plainSettings();
        settings.logitBias = {{1, 1000.0}};
        engine::Sampler sampler(settings, 1, never);
        const auto got = sampler.distribution(logits, {});
        QVERIFY(got.ok());
        QCOMPARE(got->size(), std::size_t{2});
        QCOMPARE((*got)[0].id, 0);
        QCOMPARE((*got)[1].id, 3);
        settings.temperature = 0;
        QCOMPARE(*engine::Sampler(settings, 1, never).sample(logits, {}, 0), 3);
    }

    void badLogitsAreErrors_data() {
        QTest::addColumn<QList<float>>("logits");
        QTest::newRow("nan first") << QList<float>{nan, 1, 2};
        QTest::newRow("nan last of many") << QList<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, nan};
        QTest::newRow("nan in a lane") << QList<float>{1, 2, 3, nan, 5, 6, 7, 8};
        QTest::newRow("plus infinity") << QList<float>{1, infinity, 2};
        QTest::newRow("all minus infinity") << QList<float>{-infinity, -infinity};
        QTest::newRow("none") << QList<float>{};
    }
    void badLogitsAreErrors() {
        QFETCH(QList<float>, logits);
        const std::vector<float> values(logits.begin(), logits.end());
        const auto greedy = engine::greedyToken(values);
        QVERIFY(!greedy.ok());
        QCOMPARE(greedy.error().code, ErrorCode::Internal);
        for (const double temperature : {0.0, 0.7}) {
            auto settings = plainSettings();
            settings.temperature = temperature;
            settings.presencePenalty = 1;
            const auto sampled = engine::Sampler(settings, 1).sample(values, {}, 0);
            QVERIFY(!sampled.ok());
            QCOMPARE(sampled.error().code, ErrorCode::Internal);
        }
    }

    void everythingMaskedIsAnError() {
        const std::vector<TokenId> never = {0, 1};
        const std::vector<float> logits = {1, 2};
        QVERIFY(!engine::greedyToken(logits, never).ok());
        QVERIFY(!engine::Sampler(plainSettings(), 1, never).sample(logits, {}, 0).ok());
    }

    void minusInfinityIsNeverDrawn() {
        engine::Sampler sampler(plainSettings(), 9);
        const std::vector<float> logits = {-infinity, 0, -infinity, 0};
        for (std::uint64_t i = 0; i < 1'000; ++i) {
            const TokenId id = *sampler.sample(logits, {}, i);
            QVERIFY(id == 1 || id == 3);
        }
    }

    void drawsFollowTheDistribution() {
        const std::vector<double> p = {0.05, 0.5, 0.15, 0.3};
        engine::Sampler sampler(plainSettings(), 2024);
        const auto logits = logitsOf(p);
        std::vector<int> counts(p.size());
        constexpr int draws = 50'000;
        for (int i = 0; i < draws; ++i) {
            ++counts[static_cast<std::size_t>(*sampler.sample(logits, {}, static_cast<std::uint64_t>(i)))];
        }
        double chiSquare = 0;
        for (std::size_t i = 0; i < p.size(); ++i) {
            const double expected = p[i] * draws;
            chiSquare += (counts[i] - expected) * (counts[i] - expected) / expected;
        }
        QVERIFY(chiSquare < 16.27);  // 3 degrees of freedom, one in a thousand; the seed is fixed
    }

    void seedOfTheSettingsWins() {
        const auto logits = noise(500, 1);
        auto settings = plainSettings();
        settings.seed = 77;
        engine::Sampler given(settings, 1), same(settings, 2);
        engine::Sampler other(plainSettings(), 77);
        bool differs = false;
        engine::Sampler different(plainSettings(), 78);
        for (std::uint64_t i = 0; i < 50; ++i) {
            const TokenId id = *given.sample(logits, {}, i);
            QCOMPARE(*same.sample(logits, {}, i), id);
            QCOMPARE(*other.sample(logits, {}, i), id);
            differs = differs || *different.sample(logits, {}, i) != id;
        }
        QVERIFY(differs);
    }

    /// A draw depends on (seed, index, logits, history) only: not on what was drawn before, nor on scratch.
    void drawsArePure() {
        auto settings = plainSettings();
        settings.temperature = 0.9;
        settings.minP = 0.001;
        settings.topK = 300;
        settings.typicalP = 0.95;
        settings.topP = 0.9;
        settings.repetitionPenalty = 1.1;
        const auto small = noise(100, 2);
        const auto large = noise(20'000, 3);
        const std::vector<TokenId> history = {1, 5, 9, 5};
        engine::Sampler used(settings, 5);
        for (std::uint64_t i = 0; i < 20; ++i) {
            const auto& logits = i % 3 == 0 ? small : large;
            QCOMPARE(*used.sample(logits, history, i), *engine::Sampler(settings, 5).sample(logits, history, i));
        }
    }

    void extremesStayFinite() {
        for (const double temperature : {1e-300, 1e-6, 1e6, 1e300}) {
            auto settings = plainSettings();
            settings.temperature = temperature;
            for (const float spread : {1e-30F, 1.0F, 1e30F}) {
                const std::vector<float> logits = {0, spread, -spread, spread / 2};
                const auto got = engine::Sampler(settings, 1).distribution(logits, {});
                QVERIFY(got.ok());
                double sum = 0;
                for (const auto& entry : *got) sum += entry.probability;
                QVERIFY(std::abs(sum - 1) < 1e-9);
            }
        }
    }

    /// Random settings keep at least one token, ascending ids and probabilities that add up to one.
    void anySettingsGiveADistribution() {
        std::mt19937 random(11);
        std::uniform_real_distribution<double> unit(0, 1);
        for (int round = 0; round < 300; ++round) {
            engine::SamplingSettings settings;
            settings.temperature = 0.05 + 2 * unit(random);
            settings.minP = round % 2 == 0 ? 0 : unit(random);
            settings.topK = round % 3 == 0 ? 0 : static_cast<std::int64_t>(1 + 100 * unit(random));
            settings.typicalP = round % 5 == 0 ? 1 : unit(random);
            settings.topP = round % 7 == 0 ? 1 : unit(random);
            const auto logits = noise(1 + static_cast<std::size_t>(unit(random) * 3'000), static_cast<unsigned>(round));
            const auto got = engine::Sampler(settings, 1).distribution(logits, {});
            QVERIFY(got.ok());
            QVERIFY(!got->empty());
            double sum = 0;
            for (std::size_t i = 0; i < got->size(); ++i) {
                sum += (*got)[i].probability;
                QVERIFY(i == 0 || (*got)[i - 1].id < (*got)[i].id);
            }
            QVERIFY(std::abs(sum - 1) < 1e-9);
            if (settings.topK > 0) QVERIFY(got->size() <= static_cast<std::size_t>(settings.topK));
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestSampler);
#include "test_sampler.moc"
