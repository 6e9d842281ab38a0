#include <QtTest>
#include <cmath>
#include <filesystem>
#include <set>

#include "engine/model/gguf_file.h"
#include "engine/model/model.h"
#include "engine/model/synthetic/random_values.h"
#include "engine/model/synthetic/shapes.h"
#include "engine/model_info.h"
#include "tests/engine/model/gguf_forge.h"
#include "tests/engine/model/plan_checks.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

class TestSyntheticModels : public QObject {
    Q_OBJECT

private slots:
    void everyFormatOpens_data() {
        QTest::addColumn<QString>("format");
        for (const char* format : {"F16", "Q8_0", "Q4_0", "Q5_0", "Q4_K"}) QTest::newRow(format) << format;
    }
    void everyFormatOpens() {
        QFETCH(QString, format);
        const std::string path = m_folder.path(format.toStdString() + ".gguf");
        const auto bytes = writeSyntheticModel({"tiny", format.toStdString(), {}, 1}, path);
        QVERIFY2(bytes.ok(), bytes.ok() ? "" : bytes.error().message.c_str());
        QCOMPARE(*bytes, std::uint64_t{std::filesystem::file_size(path)});
        QVERIFY(*bytes < 2'000'000);
        const auto model = Model::open(path);
        QVERIFY(model.ok());
        QCOMPARE(planFault((*model)->plan()), std::string());
        for (const Weight& weight : (*model)->plan().weights) {
            WeightFormat expected = weight.rows == 1 ? WeightFormat::F32 : *formatFromName(format.toStdString());
            if (expected == WeightFormat::Q4_K && weight.columns % 256 != 0) expected = WeightFormat::Q5_0;
            QVERIFY2(weight.format == expected, weight.name.c_str());
        }
    }

    void sameSeedSameBytes() {
        const auto make = [this](const char* name, std::uint64_t seed) {
            const std::string path = m_folder.path(name);
            return writeSyntheticModel({"tiny", "Q4_0", {}, seed}, path).ok() ? readBytes(path) : Bytes();
        };
        const Bytes one = make("a.gguf", 1), again = make("b.gguf", 1), two = make("c.gguf", 2);
        QVERIFY(!one.empty() && one == again);
        QVERIFY(one.size() == two.size() && one != two);
    }

    /// As published for the models of these shapes.
    void shapesHaveTheirSizes() {
        const std::vector<std::pair<const char*, std::uint64_t>> sizes{
            {"smollm2-135m", 134515008}, {"qwen2.5-0.5b", 494032768}, {"tinyllama-1.1b", 1100048384}};
        for (const auto& [name, parameters] : sizes) {
            const auto shape = findSyntheticShape(name);
            QVERIFY(shape.ok());
            std::uint64_t sum = 0;
            for (const SyntheticTensor& tensor : syntheticTensors(*shape, shape->vocabulary)) {
                QCOMPARE(tensor.columns % 32, 0U);
                sum += std::uint64_t{tensor.columns} * std::max(1U, tensor.rows);
            }
            QCOMPARE(sum, parameters);
        }
    }

    void randomValuesDependOnTheirPlaceOnly() {
        const RandomValues random(5, "some.tensor");
        std::vector<float> whole(10000), part(100);
        random.fill(0, whole, 0.5, 2.0);
        random.fill(4321, part, 0.5, 2.0);
        QVERIFY(std::equal(part.begin(), part.end(), whole.begin() + 4321));
        double sum = 0, squares = 0;
        for (const float value : whole) {
            sum += value;
            squares += (double{value} - 0.5) * (double{value} - 0.5);
        }
        QVERIFY(std::abs(sum / 10000 - 0.5) < 0.1);
        QVERIFY(std::abs(std::sqrt(squares / 10000) - 2.0) < 0.1);
        std::vector<float> other(10000);
        RandomValues(5, "other.tensor").fill(0, other, 0.5, 2.0);
        QVERIFY(other != whole);
    }

    void madeUpVocabularyIsDistinct() {
        const std::string path = m_folder.path("vocabulary.gguf");
        QVERIFY(writeSyntheticModel({"tiny", "Q4_0", {}, 1}, path).ok());
        const auto file = GgufFile::open(path);
        QVERIFY(file.ok());
        const auto tokens = file->strings("tokenizer.ggml.tokens");
        QVERIFY(tokens.ok() && (**tokens).size() == 512);
        QCOMPARE(std::set<std::string_view>((**tokens).begin(), (**tokens).end()).size(), std::size_t{512});
        QVERIFY((**tokens)[3 + 0x41] == "<0x41>");
        QVERIFY(std::find((**tokens).begin(), (**tokens).end(), "\u2581the") != (**tokens).end());
    }

    void takesAVocabulary() {
        const std::string path = m_folder.path("taken.gguf");
        QVERIFY(writeSyntheticModel({"tiny", "Q8_0", fixture("qwen2.gguf"), 1}, path).ok());
        const auto info = readModelInfo(path);
        QVERIFY(info.ok() && info->unsupported.empty());
        QCOMPARE(info->vocabulary, std::int64_t{336});
        const auto file = GgufFile::open(path), source = GgufFile::open(fixture("qwen2.gguf"));
        QVERIFY(file->strings("tokenizer.ggml.tokens")->value() == source->strings("tokenizer.ggml.tokens")->value());
        QVERIFY(file->boolean("tokenizer.ggml.add_bos_token")->value());
    }

    void failuresLeaveNothing() {
        TestFolder folder;
        const auto fails = [&folder](SyntheticModel what, const std::string& path, const char* part) {
            const auto made = writeSyntheticModel(what, path);
            return !made.ok() && made.error().message.find(part) != std::string::npos && folder.names().empty();
        };
        QVERIFY(fails({"huge", "Q4_0", {}, 1}, folder.path("m.gguf"), "tiny, smollm2-135m"));
        QVERIFY(fails({"tiny", "Q6_K", {}, 1}, folder.path("m.gguf"), "F16, Q8_0, Q4_0, Q5_0, Q4_K"));
        QVERIFY(fails({"tiny", "Q4_0", folder.path("absent.gguf"), 1}, folder.path("m.gguf"), "absent.gguf"));
        QVERIFY(fails({"tiny", "Q4_0", fixture("formats.gguf"), 1}, folder.path("m.gguf"), "no vocabulary"));
        QVERIFY(fails({"tiny", "Q4_0", {}, 1}, folder.path("no/such/m.gguf"), "cannot be written"));
        QVERIFY(fails({"tiny", "Q4_0", {}, 1}, "/dev/null", "not a regular file"));
        ForgedFile odd = ForgedFile::read(fixture("llama.gguf"));
        odd.set("tokenizer.ggml.scores", 9, array(6, 1, raw(0.0F)));
        QVERIFY(fails({"tiny", "Q4_0", m_folder.write("odd.gguf", odd.bytes()), 1}, folder.path("m.gguf"), "scores"));
    }

    void replacesAWholeFileOnly() {
        const std::string path = m_folder.write("old.gguf", "old");
        QVERIFY(!writeSyntheticModel({"tiny", "Q6_K", {}, 1}, path).ok());
        QCOMPARE(readBytes(path), Bytes("old"));
        QVERIFY(writeSyntheticModel({"tiny", "Q4_0", {}, 1}, path).ok());
        QVERIFY(Model::open(path).ok());
    }

private:
    TestFolder m_folder;
};

FIRSTTOKEN_TEST_CLASS(TestSyntheticModels);

#include "test_synthetic_models.moc"
