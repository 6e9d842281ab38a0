#include <QtTest>
#include <cstring>
#include <vector>

#include "engine/model/gguf_file.h"
#include "engine/tensor/format.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

namespace {

void addFormats() {
    QTest::addColumn<int>("id");
    for (const WeightFormat format : allFormats()) {
        QTest::newRow(std::string(traits(format).name).c_str()) << static_cast<int>(format);
    }
}

}  // namespace

class TestFormats : public QObject {
    Q_OBJECT

private slots:
    void traitsMatchTheContainer() {
        QCOMPARE(allFormats().size(), std::size_t{9});
        std::int32_t last = -1;
        for (const WeightFormat format : allFormats()) {
            const auto id = static_cast<std::int32_t>(format);
            QVERIFY(id > last);
            last = id;
            const auto known = ggufTensorType(id);
            QVERIFY(known.has_value());
            QCOMPARE(std::string(traits(format).name), std::string(known->name));
            QCOMPARE(traits(format).blockElements, known->blockElements);
            QCOMPARE(traits(format).blockBytes, known->blockBytes);
            QVERIFY(formatFromGgufType(id) == format);
            QCOMPARE(rowBytes(format, 512), std::size_t{512} / known->blockElements * known->blockBytes);
        }
    }

    void namesInAnyCase() {
        QVERIFY(formatFromName("Q4_K") == WeightFormat::Q4_K);
        QVERIFY(formatFromName("q4_k") == WeightFormat::Q4_K);
        QVERIFY(formatFromName("bf16") == WeightFormat::BF16);
        QVERIFY(!formatFromName("Q4_").has_value());
        QVERIFY(!formatFromName("").has_value());
        QVERIFY(!formatFromGgufType(4).has_value());
        QVERIFY(!formatFromGgufType(-1).has_value());
        QVERIFY(!formatFromGgufType(286).has_value());
    }

    /// The fixture holds four rows in each format, and what they decode to.
    void decodesTheFixture_data() { addFormats(); }
    void decodesTheFixture() {
        QFETCH(int, id);
        const WeightFormat format = *formatFromGgufType(id);
        const auto file = GgufFile::open(firsttoken::tests::fixture("formats.gguf"));
        QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
        const std::string name(traits(format).name);
        const GgufTensor* encoded = file->tensor(name);
        // F32 has no twin: it is what the others are compared with.
        const bool plain = format == WeightFormat::F32;
        const GgufTensor* decoded = file->tensor(plain ? "Q8_0.f32" : name + ".f32");
        if (plain) encoded = decoded;
        QVERIFY(encoded != nullptr && decoded != nullptr);
        QVERIFY(encoded->format() == format);
        const std::size_t columns = encoded->shape[0];
        std::vector<float> values(columns), expected(columns);
        for (std::size_t row = 0; row < encoded->shape[1]; ++row) {
            // One byte off, as rows in a file have no alignment to rely on.
            std::vector<std::byte> shifted(rowBytes(format, columns) + 1);
            std::memcpy(shifted.data() + 1, encoded->bytes.data() + row * rowBytes(format, columns),
                        rowBytes(format, columns));
            decodeRow(format, shifted.data() + 1, values.data(), columns);
            std::memcpy(expected.data(), decoded->bytes.data() + row * columns * 4, columns * 4);
            for (std::size_t i = 0; i < columns; ++i) {
                QVERIFY2(values[i] == expected[i], qPrintable(QString("row %1, column %2: %3, not %4")
                                                                  .arg(row)
                                                                  .arg(i)
                                                                  .arg(values[i], 0, 'g', 9)
                                                                  .arg(expected[i], 0, 'g', 9)));
            }
        }
    }

    /// Any bytes are some block: decoding them must stay inside and end.
    void decodesAnyBytes_data() { addFormats(); }
    void decodesAnyBytes() {
        QFETCH(int, id);
        const WeightFormat format = *formatFromGgufType(id);
        std::vector<std::byte> block(traits(format).blockBytes);
        std::vector<float> values(traits(format).blockElements);
        for (const int fill : {0x00, 0x7F, 0x80, 0xAA, 0xFF}) {
            std::fill(block.begin(), block.end(), static_cast<std::byte>(fill));
            decodeRow(format, block.data(), values.data(), values.size());
        }
        std::fill(block.begin(), block.end(), std::byte{0});
        decodeRow(format, block.data(), values.data(), values.size());
        for (const float value : values) QVERIFY(value == 0.0F);
    }
};

FIRSTTOKEN_TEST_CLASS(TestFormats);

#include "test_formats.moc"
