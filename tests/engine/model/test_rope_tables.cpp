#include <QtTest>
#include <cmath>

#include "engine/model/model.h"
#include "engine/model/rope_tables.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }

RopeParameters parameters(std::uint32_t dimensions, double base) {
    RopeParameters rope;
    rope.dimensions = dimensions;
    rope.base = base;
    rope.originalContext = 256;
    return rope;
}

}  // namespace

class TestRopeTables : public QObject {
    Q_OBJECT

private slots:
    void plainAndLinear() {
        RopeParameters rope = parameters(8, 10000.0);
        RopeTable table = ropeTable(rope, RopePairing::Adjacent);
        const std::vector<double> expected{1.0, 0.1, 0.01, 0.001};
        QCOMPARE(table.inverseFrequency.size(), expected.size());
        for (std::size_t i = 0; i < 4; ++i) QVERIFY(near(table.inverseFrequency[i], expected[i]));
        QCOMPARE(table.magnitude, 1.0F);
        rope.factor = 4.0;
        rope.attentionFactor = 1.5;
        table = ropeTable(rope, RopePairing::Adjacent);
        for (std::size_t i = 0; i < 4; ++i) QVERIFY(near(table.inverseFrequency[i], expected[i] / 4));
        QCOMPARE(table.magnitude, 1.5F);
    }

    void divisors() {
        const std::vector<float> factors{1.0F, 2.0F, 4.0F, 32.0F};
        const RopeTable table = ropeTable(parameters(8, 10000.0), RopePairing::Adjacent, factors);
        const std::vector<double> expected{1.0, 0.05, 0.0025, 0.001 / 32};
        for (std::size_t i = 0; i < 4; ++i) QVERIFY(near(table.inverseFrequency[i], expected[i]));
    }

    /// By hand: 16 dimensions, base 1e6, original context 256. 32 turns lie at dimension 0.1399 and one at 2.147, so
    /// that the ramp goes from 0 to 3.
    void yarn() {
        RopeParameters rope = parameters(16, 1e6);
        rope.scaling = RopeScaling::Yarn;
        rope.factor = 4.0;
        const RopeTable table = ropeTable(rope, RopePairing::Halves);
        const std::vector<double> kept{1.0, 0.75, 0.5, 0.25, 0.25, 0.25, 0.25, 0.25};
        for (std::size_t i = 0; i < 8; ++i) {
            QVERIFY(near(table.inverseFrequency[i], std::pow(1e6, -static_cast<double>(i) / 8) * kept[i]));
        }
        QVERIFY(std::abs(table.magnitude - 1.1386294F) < 1e-6F);
    }

    void fromFiles() {
        const std::string shared = sharedFolder();
        if (shared.empty()) QSKIP("the reference folder is absent");
        const auto linear = Model::open(shared + "/data/fixtures/llama-rope-linear.gguf");
        QVERIFY(linear.ok());
        QCOMPARE((*linear)->plan().ropeTables[0].inverseFrequency[0], 0.25);
        const auto yarn = Model::open(shared + "/data/fixtures/qwen2-rope-yarn.gguf");
        QVERIFY(yarn.ok());
        QVERIFY(std::abs((*yarn)->plan().ropeTables[0].magnitude - 1.1386294F) < 1e-6F);
        const auto freqs = Model::open(shared + "/data/fixtures/llama-rope-freqs.gguf");
        QVERIFY(freqs.ok());
        const RopeTable& table = (*freqs)->plan().ropeTables[0];
        QCOMPARE(table.inverseFrequency[0], 1.0);
        QVERIFY(table.inverseFrequency[7] < 0.5 * std::pow(500000.0, -7.0 / 8));
    }
};

FIRSTTOKEN_TEST_CLASS(TestRopeTables);

#include "test_rope_tables.moc"
