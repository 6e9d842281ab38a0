#include <filesystem>
#include <random>

#include "engine/compute/cpu/isa.h"
#include "engine/model_info.h"
#include "tests/engine/compute/model_runner.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::tests;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // plain kernels are a hundred times slower then: every kind once is enough
#else
constexpr bool sanitized = false;
#endif

/// Design, section 5, 1: the same logits bit for bit whatever else is in the step, whatever the chunks and threads.
class TestBatchInvariance : public QObject {
    Q_OBJECT

    static std::vector<engine::TokenId> randomTokens(std::size_t count, std::int64_t vocabulary, unsigned seed) {
        std::mt19937 random(seed);
        std::vector<engine::TokenId> tokens;
        for (std::size_t i = 0; i < count; ++i) {
            tokens.push_back(static_cast<engine::TokenId>(random() % static_cast<unsigned>(vocabulary)));
        }
        return tokens;
    }

private slots:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        for (const char* format : {"F16", "Q8_0", "Q4_0", "Q5_0", "Q4_K"}) {
            const std::string path = m_folder.filePath(QString("tiny-") + format + ".gguf").toStdString();
            engine::SyntheticModel what;
            what.format = format;
            const auto written = engine::writeSyntheticModel(what, path);
            QVERIFY2(written.ok(), written ? "" : written.error().message.c_str());
            m_models.push_back(path);
        }
        for (const char* name : {"llama", "qwen2", "gemma3"}) m_models.push_back(fixture(std::string(name) + ".gguf"));
        const std::string shared = sharedFolder();
        for (const char* name : {"Q6_K", "Q5_K"}) {
            if (!shared.empty()) m_models.push_back(shared + "/data/formats/llama-" + name + ".gguf");
        }
    }

    void sameBits_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("isa");
        QTest::addColumn<bool>("f32");
        for (const std::string& path : m_models) {
            for (const engine::Isa isa : engine::availableIsas()) {
                const bool slow = sanitized && isa == engine::Isa::Plain;
                if (slow && path != m_models.front() && path != fixture("gemma3.gguf")) continue;
                for (const bool f32 : {false, true}) {
                    const std::string name = std::filesystem::path(path).stem().string() + " " +
                                             std::string(toString(isa)) + (f32 ? " f32" : "");
                    QTest::newRow(name.c_str())
                        << QString::fromStdString(path) << QString::fromStdString(std::string(toString(isa))) << f32;
                }
            }
        }
    }
    void sameBits() {
        QFETCH(QString, path);
        QFETCH(QString, isa);
        QFETCH(bool, f32);
        ModelRunner::Setup setup;
        setup.isa = isa.toStdString();
        setup.sequences = 33;
        setup.contextTokens = 640;
        if (f32) {
            setup.arithmetic = engine::Arithmetic::F32;
            setup.kv = engine::KvPrecision::F32;
        }
        ModelRunner one(path.toStdString(), setup);
        const std::int64_t vocabulary = static_cast<std::int64_t>(one.executor().vocabulary());
        const bool isShort = isa == "plain" || sanitized;
        const std::size_t length = isShort ? 300 : 600;  // past one chunk of attention; past two, and a slice
        const auto tokens = randomTokens(length, vocabulary, 7);
        const auto alone = one.evaluate(tokens);
        QVERIFY(std::isfinite(alone[0]));

        for (const std::size_t chunk : {1U, 7U, 64U, 512U}) {
            if (chunk == 1 && isa == "plain") continue;
            QVERIFY2(one.evaluate(tokens, chunk, 1) == alone, qPrintable(QString("chunk %1").arg(chunk)));
        }
        setup.threads = 2;
        ModelRunner two(path.toStdString(), setup);
        QVERIFY2(two.evaluate(tokens, 64) == alone, "two threads");

        // 31 others of every length beside it: decodes and chunks mixed.
        std::vector<ModelRunner::Part> parts;
        const std::vector<engine::TokenId> head(tokens.begin(), tokens.end() - 9);
        two.evaluate(head, 512, 32);
        for (std::uint32_t s = 0; s < 31; ++s) parts.push_back({s, randomTokens(1 + s % 5, vocabulary, s), 0});
        parts.insert(parts.begin() + 11,
                     {32, {tokens.end() - 9, tokens.end()}, static_cast<std::uint32_t>(tokens.size() - 9)});
        QVERIFY2(two.step(parts)[11] == alone, "in a batch of 32");
    }

    /// Whole blocks are reused, the rest is computed again; also after a preemption, into other blocks.
    void afterAPrefixHitAtEveryOffset_data() { sameBits_data(); }
    void afterAPrefixHitAtEveryOffset() {
        QFETCH(QString, path);
        QFETCH(QString, isa);
        QFETCH(bool, f32);
        if (isa == "plain" && path.contains("formats")) QSKIP("the plain kernels are slow; other formats show it");
        ModelRunner::Setup setup;
        setup.isa = isa.toStdString();
        setup.sequences = 17;
        setup.contextTokens = 128;
        if (f32) {
            setup.arithmetic = engine::Arithmetic::F32;
            setup.kv = engine::KvPrecision::F32;
        }
        ModelRunner runner(path.toStdString(), setup);
        const auto vocabulary = static_cast<std::int64_t>(runner.executor().vocabulary());
        const auto base = randomTokens(80, vocabulary, 1);
        runner.evaluate(base, 512, 0);
        for (std::uint32_t offset = 0; offset < 16; ++offset) {
            const std::size_t shared = 48 + offset;
            std::vector<engine::TokenId> prompt(base.begin(), base.begin() + static_cast<std::ptrdiff_t>(shared));
            for (const engine::TokenId token : randomTokens(20, vocabulary, 50 + offset)) prompt.push_back(token);
            const auto cold = runner.evaluate(prompt, 512, 1 + offset);
            runner.share(0, 1 + offset, 3);
            const std::vector<engine::TokenId> rest(prompt.begin() + 48, prompt.end());
            QVERIFY2(runner.step({{1 + offset, rest, 48}})[0] == cold, qPrintable(QString::number(offset)));
        }
    }

    void blockSizes_data() {
        QTest::addColumn<int>("tokens");
        for (const int n : {1, 8, 16, 32, 64}) QTest::newRow(qPrintable(QString::number(n))) << n;
    }
    void blockSizes() {
        QFETCH(int, tokens);
        ModelRunner::Setup setup;
        const auto prompt = randomTokens(300, 300, 3);
        ModelRunner usual(fixture("gemma3.gguf"), setup);
        setup.blockTokens = static_cast<std::uint32_t>(tokens);
        ModelRunner other(fixture("gemma3.gguf"), setup);
        QVERIFY(usual.evaluate(prompt) == other.evaluate(prompt, 33));
    }

private:
    QTemporaryDir m_folder;
    std::vector<std::string> m_models;
};

FIRSTTOKEN_TEST_CLASS(TestBatchInvariance);
#include "test_batch_invariance.moc"
