#include <QtTest>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "engine/tensor/format.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

namespace {

std::vector<float> roundTrip(WeightFormat format, const std::vector<float>& values) {
    std::vector<std::byte> encoded(rowBytes(format, values.size()));
    encodeRow(format, values.data(), encoded.data(), values.size());
    std::vector<float> decoded(values.size());
    decodeRow(format, encoded.data(), decoded.data(), values.size());
    return decoded;
}

double relativeError(const std::vector<float>& values, const std::vector<float>& decoded) {
    double error = 0, square = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double gap = double{decoded[i]} - values[i];
        error += gap * gap;
        square += double{values[i]} * values[i];
    }
    return std::sqrt(error / square);
}

/// Box and Muller's, so that every standard library draws the same.
std::vector<float> normalValues(std::size_t count, std::uint32_t seed, double spread) {
    std::mt19937_64 random(seed);
    std::vector<float> values;
    while (values.size() < count) {
        const double u = (static_cast<double>(random() >> 11) + 1) * 0x1p-53;
        const double v = static_cast<double>(random() >> 11) * 0x1p-53;
        const double radius = spread * std::sqrt(-2 * std::log(u));
        values.push_back(static_cast<float>(radius * std::cos(2 * M_PI * v)));
        values.push_back(static_cast<float>(radius * std::sin(2 * M_PI * v)));
    }
    values.resize(count);
    return values;
}

void addFormats() {
    QTest::addColumn<int>("id");
    for (const WeightFormat format : allFormats()) {
        QTest::newRow(std::string(traits(format).name).c_str()) << static_cast<int>(format);
    }
}

}  // namespace

class TestEncode : public QObject {
    Q_OBJECT

private slots:
    /// Facts: gguf_formats, section 7.1, seed 1.
    void errorOnNormalData_data() { addFormats(); }
    void errorOnNormalData() {
        QFETCH(int, id);
        const WeightFormat format = *formatFromGgufType(id);
        const std::map<WeightFormat, double> reference{
            {WeightFormat::F32, 0.0},        {WeightFormat::F16, 0.00020766}, {WeightFormat::BF16, 0.0016616},
            {WeightFormat::Q8_0, 0.0053503}, {WeightFormat::Q6_K, 0.017735},  {WeightFormat::Q5_0, 0.042684},
            {WeightFormat::Q5_K, 0.03611},   {WeightFormat::Q4_0, 0.085905},  {WeightFormat::Q4_K, 0.071351}};
        for (const double spread : {1.0, 0.02}) {
            const auto values = normalValues(std::size_t{256} * 4096, 7, spread);
            const double error = relativeError(values, roundTrip(format, values));
            // Subnormal halves cost a little where the values are small.
            const double allowed = reference.at(format) * (spread == 1.0 ? 1.02 : 1.05);
            QVERIFY2(error <= allowed, qPrintable(QString("%1 > %2").arg(error).arg(allowed)));
        }
    }

    void zerosStayZero_data() { addFormats(); }
    void zerosStayZero() {
        QFETCH(int, id);
        for (const float value : roundTrip(*formatFromGgufType(id), std::vector<float>(512, 0.0F))) {
            QVERIFY(value == 0.0F);
        }
    }

    void constantsStay_data() { addFormats(); }
    void constantsStay() {
        QFETCH(int, id);
        for (const float constant : {1.0F, -1.0F, 0.037F, -250.0F}) {
            for (const float value : roundTrip(*formatFromGgufType(id), std::vector<float>(512, constant))) {
                QVERIFY2(std::abs(value - constant) <= 0.02F * std::abs(constant),
                         qPrintable(QString("%1 for %2").arg(value).arg(constant)));
            }
        }
    }

    /// One value far from the others, in each place of a block.
    void outliersSurvive_data() { addFormats(); }
    void outliersSurvive() {
        QFETCH(int, id);
        for (std::size_t place = 0; place < 256; ++place) {
            for (const float sign : {1.0F, -1.0F}) {
                auto values = normalValues(256, static_cast<std::uint32_t>(place), 0.01);
                values[place] = sign * 10.0F;
                const auto decoded = roundTrip(*formatFromGgufType(id), values);
                QVERIFY2(std::abs(decoded[place] - values[place]) < 0.4F, qPrintable(QString::number(decoded[place])));
            }
        }
    }

    /// Ends of the range of f32: nothing becomes NaN or infinite, except where the format itself ends (F16, BF16).
    void extremeValuesStayFinite_data() { addFormats(); }
    void extremeValuesStayFinite() {
        QFETCH(int, id);
        const WeightFormat format = *formatFromGgufType(id);
        if (traits(format).isFloat) return;
        for (const float size : {1e-45F, 1e-38F, 1e-30F, 1e-10F, 1e10F, 1e20F, 3e38F}) {
            auto values = normalValues(512, 3, 0.3);
            for (float& value : values) value = std::clamp(value, -1.0F, 1.0F) * size;
            for (const float value : roundTrip(format, values)) QVERIFY(std::isfinite(value));
        }
    }

    /// A whole multiple of each step is kept exactly: the definitions of section 7.
    void legacyCodesAreExact() {
        std::vector<float> values(32);
        for (int i = 0; i < 32; ++i) values[static_cast<std::size_t>(i)] = 0.5F * static_cast<float>(i % 16 - 8);
        QVERIFY(roundTrip(WeightFormat::Q4_0, values) == values);
        for (int i = 0; i < 32; ++i) values[static_cast<std::size_t>(i)] = 0.5F * static_cast<float>(i - 16);
        QVERIFY(roundTrip(WeightFormat::Q5_0, values) == values);
        for (int i = 0; i < 32; ++i) values[static_cast<std::size_t>(i)] = 0.25F * static_cast<float>(i * 8 - 121);
        values[0] = -31.75F;
        QVERIFY(roundTrip(WeightFormat::Q8_0, values) == values);
    }
};

FIRSTTOKEN_TEST_CLASS(TestEncode);

#include "test_encode.moc"
