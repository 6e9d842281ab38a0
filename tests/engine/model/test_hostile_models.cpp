#include <QtTest>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "engine/model/model.h"
#include "tests/engine/model/gguf_forge.h"
#include "tests/engine/model/plan_checks.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

namespace {

constexpr std::int32_t i32 = 5, u32 = 4, u64 = 10, f32 = 6, string = 8;

void addFixtures() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"llama", "qwen2", "gemma3"}) QTest::newRow(name) << name;
}

const std::vector<std::string> mandatoryKeys{"context_length",       "embedding_length",
                                             "block_count",          "feed_forward_length",
                                             "attention.head_count", "attention.layer_norm_rms_epsilon"};
const std::vector<std::string> wholeKeys{"context_length",
                                         "embedding_length",
                                         "block_count",
                                         "feed_forward_length",
                                         "attention.head_count",
                                         "attention.head_count_kv",
                                         "attention.key_length",
                                         "attention.value_length",
                                         "rope.dimension_count",
                                         "vocab_size",
                                         "rope.scaling.original_context_length"};
const std::vector<std::string> realKeys{"attention.layer_norm_rms_epsilon", "rope.freq_base",
                                        "rope.scaling.attn_factor"};

}  // namespace

class TestHostileModels : public QObject {
    Q_OBJECT

private slots:
    void missingKeysAreNamed_data() { addFixtures(); }
    void missingKeysAreNamed() {
        QFETCH(QString, name);
        const ForgedFile good = read(name);
        for (const std::string& part : mandatoryKeys) {
            const std::string key = name.toStdString() + "." + part;
            ForgedFile file = good;
            file.remove(key);
            QVERIFY(refuses(file, "the key '" + key + "' is missing"));
            file.set(key, string, text("many"));
            QVERIFY(refuses(file, "'" + key + "' has the type string"));
        }
        ForgedFile file = good;
        file.remove("general.architecture");
        QVERIFY(refuses(file, "'general.architecture' is missing"));
        file.set("general.architecture", u32, raw(std::uint32_t{1}));
        QVERIFY(refuses(file, "'general.architecture' has the type u32"));
    }

    void impossibleNumbersAreNamed_data() { addFixtures(); }
    void impossibleNumbersAreNamed() {
        QFETCH(QString, name);
        const ForgedFile good = read(name);
        for (const std::string& part : wholeKeys) {
            const std::string key = name.toStdString() + "." + part;
            ForgedFile file = good;
            file.set(key, u32, raw(std::uint32_t{0}));
            QVERIFY(refuses(file, key));
            file.set(key, i32, raw(std::int32_t{-1}));
            QVERIFY(refuses(file, key));
            file.set(key, u32, raw(std::uint32_t{1} << 31));
            QVERIFY(refuses(file, key));
            file.set(key, u64, raw(std::uint64_t{1} << 63));
            QVERIFY(refuses(file, key));
            file.set(key, f32, raw(std::nanf("")));
            QVERIFY(refuses(file, key));
        }
        for (const std::string& part : realKeys) {
            const std::string key = name.toStdString() + "." + part;
            for (const float value : {0.0F, -1.0F, std::nanf(""), std::numeric_limits<float>::infinity()}) {
                ForgedFile file = good;
                file.set(key, f32, raw(value));
                QVERIFY(refuses(file, key));
            }
        }
    }

    void numbersAtOddsWithTensors_data() { addFixtures(); }
    void numbersAtOddsWithTensors() {
        QFETCH(QString, name);
        const ForgedFile good = read(name);
        for (const std::string& part : wholeKeys) {
            const std::string key = name.toStdString() + "." + part;
            if (ForgedFile(good).entry(key) == nullptr || part == "context_length") continue;
            for (const int change : {-1, 1}) {
                ForgedFile file = good;
                std::uint32_t value = 0;
                std::memcpy(&value, file.entry(key)->value.data(), sizeof value);
                file.set(key, u32, raw(value + static_cast<std::uint32_t>(change)));
                QVERIFY(!open(file).ok());
            }
        }
    }

    void missingTensorsAreNamed_data() { addFixtures(); }
    void missingTensorsAreNamed() {
        QFETCH(QString, name);
        const ForgedFile good = read(name);
        for (const auto& tensor : good.tensors) {
            if (tensor.name == "output.weight") continue;  // then the embedding takes its place
            ForgedFile file = good;
            file.remove(tensor.name);
            QVERIFY(refuses(file, "the tensor '" + tensor.name + "' is missing"));
        }
    }

    void otherShapesAreNamed_data() { addFixtures(); }
    void otherShapesAreNamed() {
        QFETCH(QString, name);
        const ForgedFile good = read(name);
        for (std::size_t i = 0; i < good.tensors.size(); ++i) {
            for (std::size_t d = 0; d < good.tensors[i].shape.size(); ++d) {
                for (const std::int64_t change : {-1, 1}) {
                    ForgedFile file = good;
                    auto& tensor = file.tensors[i];
                    const bool vocabulary = tensor.name == "token_embd.weight" && d == 1;
                    tensor.shape[d] += change;
                    resize(tensor);
                    // A row more in a tied embedding is a padded vocabulary; else the output matrix disagrees.
                    if (vocabulary && change > 0 && file.tensor("output.weight") == nullptr) continue;
                    QVERIFY(refuses(file, vocabulary ? "" : "'" + tensor.name + "'"));
                }
            }
            ForgedFile file = good;
            file.tensors[i].shape[0] = 0;
            resize(file.tensors[i]);
            QVERIFY(refuses(file, "'" + file.tensors[i].name + "'"));
            file = good;
            file.tensors[i].shape.push_back(2);
            resize(file.tensors[i]);
            QVERIFY(refuses(file, "'" + file.tensors[i].name + "'"));
        }
    }

    void unsupportedThings() {
        ForgedFile file = read("llama");
        file.tensors[3].type = 20;
        file.tensors[3].shape = {64};
        file.tensors[3].data.resize(36);
        QVERIFY(refuses(file, "has the format IQ4_NL, which is not supported (supported: F32, F16, Q4_0",
                        ErrorCode::Unsupported));
        file = read("llama");
        file.set("general.architecture", string, text("mamba"));
        QVERIFY(refuses(file, "'mamba' is not supported (supported: gemma3, llama, qwen2)", ErrorCode::Unsupported));
        file = read("llama");
        file.set("split.count", 2, raw(std::uint16_t{3}));
        QVERIFY(refuses(file, "one of 3 parts", ErrorCode::Unsupported));
        file = read("llama");
        file.set("llama.expert_count", u32, raw(std::uint32_t{8}));
        QVERIFY(refuses(file, "mixture of 8 experts", ErrorCode::Unsupported));
        file = read("llama");
        file.set("llama.rope.scaling.type", string, text("spiral"));
        QVERIFY(refuses(file, "'spiral'", ErrorCode::Unsupported));
        file = read("llama");
        file.tensors.push_back({"blk.0.attn_q.weight.scale", {1}, 0, raw(1.0F), {}, {}});
        QVERIFY(refuses(file, "scales another", ErrorCode::Unsupported));
        file = read("llama");
        file.tensors.clear();
        QVERIFY(refuses(file, "holds no weights", ErrorCode::Unsupported));
        file = read("llama");
        file.tensors.push_back({"some.other.tensor", {1}, 0, raw(1.0F), {}, {}});
        QVERIFY(open(file).ok());
        file.tensors.back().name = "blk.2.attn_norm.weight";
        QVERIFY(refuses(file, "beyond the 2 layers"));
        file = read("llama");
        file.set("general.alignment", u32, raw(std::uint32_t{1}));
        file.alignment = 1;
        QVERIFY(refuses(file, "at least 4", ErrorCode::Unsupported));
    }

    void vocabularyAtOdds() {
        ForgedFile file = read("llama");
        file.set("tokenizer.ggml.scores", 9, array(f32, 1, raw(0.0F)));
        QVERIFY(refuses(file, "tokenizer.ggml.scores"));
        file = read("llama");
        file.set("tokenizer.ggml.eos_token_id", u32, raw(std::uint32_t{336}));
        QVERIFY(refuses(file, "tokenizer.ggml.eos_token_id"));
        file = read("llama");
        file.set("tokenizer.ggml.tokens", 9, array(string, 400, Bytes(3200, '\0')));
        QVERIFY(refuses(file, "400 tokens"));
    }

    /// Whatever a damaged head turns into: an error, or a plan that keeps its promises.
    void randomDamage_data() { addFixtures(); }
    void randomDamage() {
        QFETCH(QString, name);
        const Bytes good = readBytes(fixture(name.toStdString() + ".gguf"));
        const std::size_t head = good.find("blk.0.") + 4000;
        PatchedFile patched(m_folder.path("damaged.gguf"), good);
        std::mt19937 random(3);
        for (int round = 0; round < 1500; ++round) {
            patched.restore();
            for (std::uint32_t n = random() % 3 + 1; n > 0; --n) {
                patched.change(random() % head, static_cast<char>(random() % 2 == 0 ? random() % 4 : random()));
            }
            const std::string& path = patched.path();
            const auto model = Model::open(path);
            if (model.ok()) QCOMPARE(planFault((*model)->plan()), std::string());
            const auto info = readModelInfo(path);
            QVERIFY(!info.ok() || info->unsupported.empty() == model.ok());
        }
    }

private:
    static ForgedFile read(const QString& name) { return ForgedFile::read(fixture(name.toStdString() + ".gguf")); }
    /// Data to the shape, so that the container stays good.
    static void resize(ForgedFile::Tensor& tensor) {
        std::size_t values = 1;
        for (const std::int64_t size : tensor.shape) values *= static_cast<std::size_t>(size);
        tensor.data.resize(values * (tensor.type == 0 ? 4 : 2));
    }
    Result<std::shared_ptr<const Model>> open(const ForgedFile& file) {
        return Model::open(m_folder.writeHollow("hostile.gguf", file));
    }
    bool refuses(const ForgedFile& file, const std::string& part, ErrorCode code = ErrorCode::BadInput) {
        const auto model = open(file);
        if (model.ok()) {
            qWarning("it opened; expected: %s", part.c_str());
            return false;
        }
        const bool matches = model.error().message.find(part) != std::string::npos && model.error().code == code;
        if (!matches) qWarning("%s; expected: %s", model.error().message.c_str(), part.c_str());
        return matches;
    }
    TestFolder m_folder;
};

FIRSTTOKEN_TEST_CLASS(TestHostileModels);

#include "test_hostile_models.moc"
