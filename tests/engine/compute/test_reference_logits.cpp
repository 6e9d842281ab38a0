#include <filesystem>

#include "engine/compute/cpu/isa.h"
#include "tests/engine/compute/model_runner.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::tests;

/// Logits and greedy tokens against those that an independent engine computed.
class TestReferenceLogits : public QObject {
    Q_OBJECT

private slots:
    void fixtures_data() { rows({fixture("llama.gguf"), fixture("qwen2.gguf"), fixture("gemma3.gguf")}); }
    void fixtures() { compare(); }
    void models_data() {
        const std::string shared = sharedFolder();
        std::vector<std::string> paths;
        for (const char* name :
             {"llama", "llama-rope-freqs", "llama-rope-linear", "qwen2", "qwen2-rope-yarn", "gemma3"}) {
            if (!shared.empty()) paths.push_back(shared + "/data/models/" + name + ".gguf");
        }
        rows(paths);
    }
    void models() { compare(); }
    void formats_data() {
        const std::string shared = sharedFolder();
        std::vector<std::string> paths;
        for (const engine::WeightFormat format : engine::allFormats()) {
            const std::string path = shared + "/data/formats/llama-" + std::string(traits(format).name) + ".gguf";
            if (std::filesystem::exists(path)) paths.push_back(path);
        }
        rows(paths);
    }
    void formats() { compare(); }

private:
    void rows(const std::vector<std::string>& paths) {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("isa");
        for (const std::string& path : paths) {
            for (const engine::Isa isa : engine::availableIsas()) {
                const std::string name = std::filesystem::path(path).stem().string() + " " + std::string(toString(isa));
                QTest::newRow(name.c_str())
                    << QString::fromStdString(path) << QString::fromStdString(std::string(toString(isa)));
            }
        }
        if (paths.empty()) QTest::newRow("no reference folder") << QString() << QString();
    }

    void compare() {
        QFETCH(QString, path);
        QFETCH(QString, isa);
        if (path.isEmpty()) QSKIP("the reference folder is not there");
        const Reference reference = Reference::read(path.chopped(4).toStdString() + "json");
        QVERIFY(!reference.logits.empty());
        ModelRunner::Setup setup;
        setup.isa = isa.toStdString();
        {
            ModelRunner runner(path.toStdString(), setup);
            const auto logits = runner.evaluate(reference.prompt);
            QVERIFY2(largestDifference(logits, reference.logits) < 6e-2 * reference.range(),
                     qPrintable(QString::number(largestDifference(logits, reference.logits) / reference.range())));
        }
        setup.arithmetic = engine::Arithmetic::F32;
        setup.kv = engine::KvPrecision::F32;
        ModelRunner exact(path.toStdString(), setup);
        auto logits = exact.evaluate(reference.prompt);
        QVERIFY2(largestDifference(logits, reference.logits) < 2e-4 * reference.range(),
                 qPrintable(QString::number(largestDifference(logits, reference.logits) / reference.range())));
        for (std::size_t i = 0; i < reference.greedy.size(); ++i) {
            if (reference.margin[i] < 4e-4 * reference.range()) break;
            const engine::TokenId token = argmax(logits);
            QCOMPARE(token, reference.greedy[i]);
            logits = exact.step({{0, {token}, static_cast<std::uint32_t>(reference.prompt.size() + i)}})[0];
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestReferenceLogits);
#include "test_reference_logits.moc"
