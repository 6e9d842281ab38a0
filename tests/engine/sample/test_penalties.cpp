#include "tests/engine/sample/distributions.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using engine::TokenId;
using tests::compareDistribution;
using tests::plainSettings;

class TestPenalties : public QObject {
    Q_OBJECT

    /// Softmax of `logits`, ids from 0.
    static tests::Expected softmax(const std::vector<double>& logits) {
        double total = 0;
        for (const double logit : logits) total += std::exp(logit);
        tests::Expected expected;
        for (std::size_t i = 0; i < logits.size(); ++i) {
            expected.push_back({static_cast<TokenId>(i), std::exp(logits[i]) / total});
        }
        return expected;
    }

private slots:
    void repetitionDividesOrMultipliesOnce() {
        auto settings = plainSettings();
        settings.repetitionPenalty = 2;
        compareDistribution(settings, {2, -2, 1, 0}, {0, 1, 0, 0, 3}, softmax({1, -4, 1, 0}));
    }

    void repetitionZeroAndOneAreOff() {
        auto settings = plainSettings();
        settings.repetitionPenalty = 0;
        compareDistribution(settings, {2, -2}, {0, 1}, softmax({2, -2}));
        settings.repetitionPenalty = 1;
        compareDistribution(settings, {2, -2}, {0, 1}, softmax({2, -2}));
    }

    void frequencyCountsPresenceDoesNot() {
        auto settings = plainSettings();
        settings.frequencyPenalty = 0.5;
        compareDistribution(settings, {1, 1, 1}, {1, 2, 2, 2}, softmax({1, 0.5, -0.5}));
        settings.frequencyPenalty = 0;
        settings.presencePenalty = 0.25;
        compareDistribution(settings, {1, 1, 1}, {1, 2, 2, 2}, softmax({1, 0.75, 0.75}));
        settings.frequencyPenalty = -0.5;
        compareDistribution(settings, {1, 1, 1}, {1, 2, 2}, softmax({1, 1.25, 1.75}));
    }

    void allTogether() {
        auto settings = plainSettings();
        settings.repetitionPenalty = 2;
        settings.frequencyPenalty = 0.5;
        settings.presencePenalty = 0.25;
        compareDistribution(settings, {4, -1, 0}, {0, 0, 1}, softmax({2 - 1.25, -2 - 0.75, 0}));
    }

    void idsOutsideTheVocabularyAreIgnored() {
        auto settings = plainSettings();
        settings.presencePenalty = 1;
        compareDistribution(settings, {0, 0}, {-1, 2, 2'000'000'000}, softmax({0, 0}));
    }

    void historyGrowsShrinksAndChanges() {
        auto settings = plainSettings();
        settings.frequencyPenalty = 1;
        engine::Sampler sampler(settings, 1);
        const std::vector<float> logits = {0, 0, 0};
        const std::vector<std::vector<TokenId>> histories = {{0}, {0, 0, 1}, {1}, {2, 2}, {2, 2, 2, 2}, {}, {0}};
        for (const auto& history : histories) {
            const auto reused = sampler.distribution(logits, history);
            const auto fresh = engine::Sampler(settings, 1).distribution(logits, history);
            QVERIFY(reused.ok() && fresh.ok());
            QVERIFY(*reused == *fresh);
        }
    }

    void actAtTemperatureZero() {
        auto settings = plainSettings();
        settings.temperature = 0;
        const std::vector<float> logits = {3, 2.5F, 1};
        QCOMPARE(*engine::Sampler(settings, 1).sample(logits, {}, 0), 0);
        const std::vector<TokenId> history = {0};
        settings.presencePenalty = 1;
        QCOMPARE(*engine::Sampler(settings, 1).sample(logits, history, 0), 1);
        settings.presencePenalty = 0;
        settings.repetitionPenalty = 4;
        QCOMPARE(*engine::Sampler(settings, 1).sample(logits, history, 0), 1);
        settings.logitBias = {{2, 10.0}};
        QCOMPARE(*engine::Sampler(settings, 1).sample(logits, history, 0), 2);
    }
};

FIRSTTOKEN_TEST_CLASS(TestPenalties);
#include "test_penalties.moc"
