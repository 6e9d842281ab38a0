#include <QtTest>
#include <cmath>
#include <random>
#include <vector>

#include "engine/compute/cpu/isa.h"
#include "engine/compute/cpu/kernels.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using engine::Kernels;

namespace {

std::vector<const Kernels*> allKernels() {
    std::vector<const Kernels*> kernels = {&engine::plainKernels()};
#ifdef FIRSTTOKEN_AVX2
    if (engine::availableIsas().size() > 1) kernels.push_back(&engine::avx2Kernels());
#endif
    return kernels;
}

std::vector<float> normal(std::size_t count, unsigned seed, float spread = 1.0F) {
    std::mt19937 random(seed);
    std::normal_distribution<float> distribution(0.0F, spread);
    std::vector<float> values(count);
    for (float& value : values) value = distribution(random);
    return values;
}

/// Eight rows of one format, encoded, with their decoded values.
struct Rows {
    std::vector<std::vector<std::byte>> bytes;
    std::vector<std::vector<float>> values;
    const std::byte* pointers[engine::kPanelRows];

    Rows(engine::WeightFormat format, std::size_t columns) {
        for (unsigned r = 0; r < engine::kPanelRows; ++r) {
            bytes.emplace_back(engine::rowBytes(format, columns));
            engine::encodeRow(format, normal(columns, r + 1, 0.1F).data(), bytes[r].data(), columns);
            values.emplace_back(columns);
            engine::decodeRow(format, bytes[r].data(), values[r].data(), columns);
            pointers[r] = bytes[r].data();
        }
    }
    void damage(unsigned seed) {
        std::mt19937 random(seed);
        for (auto& row : bytes) {
            for (std::byte& byte : row) byte = static_cast<std::byte>(random());
        }
    }
};

struct UnpackedPanel {
    std::vector<std::uint8_t> quants;
    std::vector<float> scales, offsets;
    explicit UnpackedPanel(std::size_t columns) : quants(8 * columns), scales(columns / 2), offsets(columns / 2) {}
    engine::Panel view() { return {quants.data(), scales.data(), offsets.data()}; }
};

struct Quantised {
    std::vector<std::int8_t> quants;
    std::vector<float> scales, sums32, sums16;
    explicit Quantised(std::size_t columns)
        : quants(columns), scales(columns / 32), sums32(columns / 32), sums16(columns / 16) {}
    engine::QuantRow view() { return {quants.data(), scales.data(), sums32.data(), sums16.data()}; }
};

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

class TestKernels : public QObject {
    Q_OBJECT

private slots:
    void everyUnpackingEqualsThePlainOne() {
        for (const engine::WeightFormat format : engine::allFormats()) {
            if (traits(format).isFloat) continue;
            for (unsigned seed = 0; seed < 4; ++seed) {
                Rows rows(format, 512);
                if (seed > 0) rows.damage(seed);  // any bytes, not only those an encoder writes
                UnpackedPanel plain(512), other(512);
                engine::plainKernels().unpackPanel(format, rows.pointers, 512, plain.view());
                for (const Kernels* kernels : allKernels()) {
                    kernels->unpackPanel(format, rows.pointers, 512, other.view());
                    QVERIFY2(plain.quants == other.quants, traits(format).name.data());
                    const std::size_t scales = 512 / panelKind(format).groupElements * 8;
                    for (std::size_t i = 0; i < scales; ++i) {
                        const bool bothNaN = std::isnan(plain.scales[i]) && std::isnan(other.scales[i]);
                        QVERIFY(bothNaN || plain.scales[i] == other.scales[i]);
                        if (!panelKind(format).hasOffset) continue;
                        const bool offsetsNaN = std::isnan(plain.offsets[i]) && std::isnan(other.offsets[i]);
                        QVERIFY(offsetsNaN || plain.offsets[i] == other.offsets[i]);
                    }
                }
            }
        }
    }

    void unpackedValuesAreTheDecodedOnes() {
        for (const engine::WeightFormat format : engine::allFormats()) {
            if (traits(format).isFloat) continue;
            Rows rows(format, 512);
            UnpackedPanel panel(512);
            engine::plainKernels().unpackPanel(format, rows.pointers, 512, panel.view());
            const engine::PanelKind kind = panelKind(format);
            for (std::size_t lane = 0; lane < 8; ++lane) {
                for (std::size_t c = 0; c < 512; ++c) {
                    const std::uint8_t raw = panel.quants[c / 4 * 32 + lane * 4 + c % 4];
                    const int quant = kind.maxQuant == 0 ? static_cast<std::int8_t>(raw) : raw;
                    const std::size_t g = c / kind.groupElements * 8 + lane;
                    const float value =
                        panel.scales[g] * static_cast<float>(quant) + (kind.hasOffset ? panel.offsets[g] : 0.0F);
                    QVERIFY2(std::abs(value - rows.values[lane][c]) <= 1e-6F, traits(format).name.data());
                }
            }
        }
    }

    void productsDoNotDependOnTheRowsBeside() {
        for (const Kernels* kernels : allKernels()) {
            for (const engine::WeightFormat format : engine::allFormats()) {
                if (traits(format).isFloat) continue;
                Rows rows(format, 512);
                UnpackedPanel panel(512);
                kernels->unpackPanel(format, rows.pointers, 512, panel.view());
                std::vector<Quantised> inputs;
                std::vector<engine::QuantRow> views;
                for (unsigned m = 0; m < 11; ++m) inputs.emplace_back(512);
                for (unsigned m = 0; m < 11; ++m) {
                    views.push_back(inputs[m].view());
                    kernels->quantizeRow(normal(512, 100 + m).data(), 512, views[m]);
                }
                std::vector<float> together(11 * 8), alone(11 * 8), narrow(11 * 8, -1.0F);
                kernels->panelProduct(panelKind(format), panel.view(), 512, views.data(), 11,
                                      {together.data(), 8, nullptr, 8});
                for (unsigned m = 0; m < 11; ++m) {
                    kernels->panelProduct(panelKind(format), panel.view(), 512, &views[m], 1,
                                          {alone.data() + 8 * m, 8, nullptr, 8});
                }
                QVERIFY(sameBits(together, alone));
                kernels->panelProduct(panelKind(format), panel.view(), 512, views.data(), 11,
                                      {narrow.data(), 8, nullptr, 3});
                for (unsigned m = 0; m < 11; ++m) {
                    for (unsigned n = 0; n < 8; ++n) QCOMPARE(narrow[8 * m + n], n < 3 ? together[8 * m + n] : -1.0F);
                }
                for (unsigned m = 0; m < 11; ++m) {
                    const auto input = normal(512, 100 + m);
                    for (unsigned n = 0; n < 8; ++n) {
                        double exact = 0;
                        for (std::size_t k = 0; k < 512; ++k)
                            exact += static_cast<double>(input[k]) * rows.values[n][k];
                        QVERIFY2(std::abs(together[8 * m + n] - exact) < 0.06, traits(format).name.data());
                    }
                }
            }
        }
    }

    void extremeQuantsDoNotOverflow() {
        for (const Kernels* kernels : allKernels()) {
            for (const engine::PanelKind kind : {engine::PanelKind{32, 15, true}, engine::PanelKind{32, 31, true},
                                                 engine::PanelKind{16, 63, true}, engine::PanelKind{32, 0, false}}) {
                UnpackedPanel panel(64);
                const int quant = kind.maxQuant == 0 ? -128 : kind.maxQuant;
                std::fill(panel.quants.begin(), panel.quants.end(), static_cast<std::uint8_t>(quant));
                std::fill(panel.scales.begin(), panel.scales.end(), 1.0F);
                Quantised input(64);
                std::fill(input.quants.begin(), input.quants.end(), std::int8_t{-127});
                std::fill(input.scales.begin(), input.scales.end(), 1.0F);
                const engine::QuantRow view = input.view();
                float out[8];
                kernels->panelProduct(kind, panel.view(), 64, &view, 1, {out, 8, nullptr, 8});
                for (const float value : out) QCOMPARE(value, static_cast<float>(64 * quant * -127));
            }
        }
    }

    void quantisationIsTheSameOnEverySet() {
        auto values = normal(256, 5);
        values[3] = 0.0F;
        std::fill(values.begin() + 32, values.begin() + 64, 0.0F);
        std::fill(values.begin() + 64, values.begin() + 96, 1e-38F);
        Quantised plain(256);
        engine::plainKernels().quantizeRow(values.data(), 256, plain.view());
        for (const Kernels* kernels : allKernels()) {
            Quantised other(256);
            kernels->quantizeRow(values.data(), 256, other.view());
            QVERIFY(plain.quants == other.quants);
            QVERIFY(sameBits(plain.scales, other.scales));
            QVERIFY(sameBits(plain.sums16, other.sums16));
            QVERIFY(sameBits(plain.sums32, other.sums32));
        }
        for (std::size_t i = 0; i < 256; ++i) {
            const float back = plain.scales[i / 32] * static_cast<float>(plain.quants[i]);
            QVERIFY(std::abs(back - values[i]) <= 0.51F * plain.scales[i / 32] + 1e-30F);
        }
    }

    void notANumberComesThrough() {
        for (const Kernels* kernels : allKernels()) {
            for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
                auto values = normal(64, 9);
                values[40] = bad;
                Quantised input(64);
                kernels->quantizeRow(values.data(), 64, input.view());
                QVERIFY(std::isfinite(input.scales[0]));
                QVERIFY(!std::isfinite(input.scales[1]));
            }
            float gate[8] = {std::nanf(""), 100.0F, -100.0F, 0, 1, -1, 20, -20}, up[8], out[8];
            std::fill(std::begin(up), std::end(up), 1.0F);
            kernels->siluGate(gate, up, out, 8);
            QVERIFY(std::isnan(out[0]));
            QVERIFY(std::abs(out[1] - 100.0F) < 1e-4F && std::abs(out[2]) < 1e-4F);
        }
    }

    void activationsMatchTheirFormulas() {
        for (const Kernels* kernels : allKernels()) {
            for (float x = -12.0F; x < 12.0F; x += 0.37F) {
                const float up = 1.0F;
                float out = 0;
                kernels->siluGate(&x, &up, &out, 1);
                const double d = x;
                QVERIFY(std::abs(out - d / (1 + std::exp(-d))) < 2e-6);
                kernels->geluGate(&x, &up, &out, 1);
                QVERIFY(std::abs(out - 0.5 * d * (1 + std::tanh(0.7978845608 * (d + 0.044715 * d * d * d)))) < 2e-6);
                float capped = x;
                kernels->softcap(&capped, 3.0F, 1);
                QVERIFY(std::abs(capped - 3 * std::tanh(d / 3)) < 2e-6);
            }
        }
    }

    void floatProductsWithTails() {
        for (const Kernels* kernels : allKernels()) {
            for (const std::size_t columns : {1U, 7U, 8U, 33U, 100U}) {
                const std::size_t padded = (columns + 7) / 8 * 8;
                std::vector<std::vector<float>> weights, rows;
                std::vector<const float*> weightPointers, rowPointers;
                for (unsigned i = 0; i < 7; ++i) {
                    weights.push_back(normal(columns, i));
                    rows.push_back(normal(columns, 50 + i));
                    weights[i].resize(padded);
                    rows[i].resize(padded);
                }
                for (unsigned i = 0; i < 7; ++i) {
                    weightPointers.push_back(weights[i].data());
                    rowPointers.push_back(rows[i].data());
                }
                std::vector<float> together(49), alone(49);
                const auto bias = normal(7, 77);
                kernels->floatProduct(weightPointers.data(), padded, rowPointers.data(), 7,
                                      {together.data(), 7, bias.data(), 7});
                for (unsigned m = 0; m < 7; ++m) {
                    kernels->floatProduct(weightPointers.data(), padded, &rowPointers[m], 1,
                                          {alone.data() + 7 * m, 7, bias.data(), 7});
                }
                QVERIFY(sameBits(together, alone));
                double exact = bias[2];
                for (std::size_t k = 0; k < columns; ++k) exact += static_cast<double>(weights[2][k]) * rows[4][k];
                QVERIFY(std::abs(together[4 * 7 + 2] - exact) < 1e-5);
            }
        }
    }

    void softmaxOfLogitsFarBelowZero() {  // flashinfer#4267: a finite "-inf" must not zero such rows
        for (const Kernels* kernels : allKernels()) {
            float scores[3] = {-3e5F, -3e5F, -1e5F - 3e5F};
            const float values[3 * 8] = {1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 9, 9, 9, 9, 9, 9, 9, 9};
            float out[8] = {}, chunk[8];
            engine::SoftmaxState state = {-HUGE_VALF, 0};
            kernels->accumulate(scores, values, 8, 8, 0, 3, state, out, chunk);
            QVERIFY(std::abs(out[0] / state.sum - 2.0F) < 1e-6F);
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestKernels);
#include "test_kernels.moc"
