#include <QtTest>
#include <cmath>
#include <filesystem>

#include "engine/model/model.h"
#include "tests/engine/model/gguf_forge.h"
#include "tests/engine/model/plan_checks.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

namespace {

template <class Op>
std::vector<Op> operations(const Plan& plan) {
    std::vector<Op> found;
    for (const Operation& operation : plan.operations) {
        if (const auto* op = std::get_if<Op>(&operation)) found.push_back(*op);
    }
    return found;
}

std::string name(const Plan& plan, std::int64_t weight) { return plan.weights[static_cast<std::size_t>(weight)].name; }

}  // namespace

class TestPlans : public QObject {
    Q_OBJECT

private slots:
    void llama() {
        const auto model = Model::open(fixture("llama.gguf"));
        QVERIFY2(model.ok(), model.ok() ? "" : model.error().message.c_str());
        const Plan& plan = (*model)->plan();
        QCOMPARE(planFault(plan), std::string());
        QCOMPARE(plan.layers.size(), std::size_t{2});
        QCOMPARE(plan.groups.size(), std::size_t{1});
        QCOMPARE(plan.groups[0].window, 0U);
        QCOMPARE(plan.ropeTables.size(), std::size_t{1});
        QVERIFY(plan.ropeTables[0].pairing == RopePairing::Adjacent);
        QCOMPARE(plan.ropeTables[0].inverseFrequency.size(), std::size_t{8});
        QCOMPARE(plan.buffers[plan.logits].width, std::size_t{336});
        QCOMPARE(name(plan, operations<MatMulOp>(plan).back().weight), std::string("output.weight"));
        QCOMPARE(operations<AttentionOp>(plan)[0].scale, 0.25F);
        QCOMPARE(operations<EmbedOp>(plan)[0].scale, 1.0F);
        for (const MatMulOp& product : operations<MatMulOp>(plan)) QCOMPARE(product.bias, std::int64_t{-1});
    }

    void qwen2() {
        const auto model = Model::open(fixture("qwen2.gguf"));
        QVERIFY(model.ok());
        const Plan& plan = (*model)->plan();
        QCOMPARE(planFault(plan), std::string());
        QVERIFY(plan.ropeTables[0].pairing == RopePairing::Halves);
        QCOMPARE(name(plan, operations<MatMulOp>(plan).back().weight), std::string("token_embd.weight"));
        const auto products = operations<MatMulOp>(plan);
        QCOMPARE(name(plan, products[1].weight), std::string("blk.0.attn_k.weight"));
        QCOMPARE(name(plan, products[1].bias), std::string("blk.0.attn_k.bias"));
        QCOMPARE(products[1].outOffset, std::size_t{64});
        QCOMPARE(products[2].outOffset, std::size_t{96});
        QCOMPARE((*model)->plan().weights.size(), std::size_t{26});
    }

    void gemma3() {
        const auto model = Model::open(fixture("gemma3.gguf"));
        QVERIFY(model.ok());
        const Plan& plan = (*model)->plan();
        QCOMPARE(planFault(plan), std::string());
        QCOMPARE(plan.groups.size(), std::size_t{2});
        QCOMPARE(plan.groups[0].window, 16U);
        QCOMPARE(plan.groups[1].layers, std::vector<std::uint32_t>{5});
        QCOMPARE(plan.groups[0].layers, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 6}));
        QCOMPARE(operations<EmbedOp>(plan)[0].scale, 8.0F);
        QCOMPARE(operations<HeadNormOp>(plan).size(), std::size_t{14});
        QVERIFY(operations<GatedOp>(plan)[0].activation == Activation::GeluTanh);
        // Local layers turn with base 10000, the global one with its own.
        QCOMPARE(plan.ropeTables.size(), std::size_t{2});
        QVERIFY(std::abs(plan.ropeTables[0].inverseFrequency[1] - std::pow(1e4, -1.0 / 8)) < 1e-12);
        QVERIFY(std::abs(plan.ropeTables[1].inverseFrequency[1] - std::pow(1e6, -1.0 / 8)) < 1e-12);
        QCOMPARE(operations<RopeOp>(plan)[0].table, 0U);
        QCOMPARE(operations<RopeOp>(plan)[10].table, 1U);
        QCOMPARE(operations<SoftcapOp>(plan).size(), std::size_t{0});
    }

    /// Products that read one buffer have nothing between them.
    void fusionGroupsStandTogether() {
        for (const char* file : {"llama.gguf", "qwen2.gguf", "gemma3.gguf"}) {
            const auto model = Model::open(fixture(file));
            QVERIFY(model.ok());
            const Plan& plan = (*model)->plan();
            std::vector<std::size_t> runs;
            for (std::size_t i = 0; i < plan.operations.size(); ++i) {
                const auto* product = std::get_if<MatMulOp>(&plan.operations[i]);
                if (product == nullptr) continue;
                const auto* before = std::get_if<MatMulOp>(&plan.operations[i - 1]);
                if (before != nullptr && before->in == product->in) {
                    ++runs.back();
                } else {
                    runs.push_back(1);
                }
            }
            // A layer: q k v, output, gate up, down. Then the head.
            std::vector<std::size_t> expected;
            for (std::size_t layer = 0; layer < plan.layers.size(); ++layer) {
                for (const std::size_t run : {3, 1, 2, 1}) expected.push_back(run);
            }
            expected.push_back(1);
            QVERIFY(runs == expected);
        }
    }

    void gemma3Variants() {
        ForgedFile file = ForgedFile::read(fixture("gemma3.gguf"));
        file.set("gemma3.attention.sliding_window_pattern", 4, raw(std::uint32_t{2}));
        file.set("gemma3.final_logit_softcapping", 6, raw(30.0F));
        file.set("gemma3.rope.freq_base_swa", 6, raw(500.0F));
        file.set("gemma3.rope.scaling.factor", 6, raw(8.0F));
        auto model = open(file);
        QVERIFY2(model.ok(), model.ok() ? "" : model.error().message.c_str());
        const Plan& plan = (*model)->plan();
        QCOMPARE(plan.groups[0].layers, (std::vector<std::uint32_t>{0, 2, 4, 6}));
        QCOMPARE(operations<SoftcapOp>(plan).size(), std::size_t{1});
        QCOMPARE(plan.ropeTables[0].inverseFrequency[0], 1.0);
        QCOMPARE(plan.ropeTables[1].inverseFrequency[0], 0.125);

        std::string flags;
        for (int layer = 0; layer < 7; ++layer) flags += raw(static_cast<std::uint8_t>(layer == 3 ? 1 : 0));
        file.set("gemma3.attention.sliding_window_pattern", 9, array(7, 7, flags));
        model = open(file);
        QVERIFY(model.ok());
        QCOMPARE((*model)->plan().groups[1].layers, std::vector<std::uint32_t>{3});
        file.set("gemma3.attention.sliding_window", 4, raw(std::uint32_t{0}));
        model = open(file);
        QVERIFY(model.ok());
        QCOMPARE((*model)->plan().groups.size(), std::size_t{1});
    }

    /// q, k and v in one tensor compute the same as apart.
    void fusedProjections() {
        ForgedFile file = ForgedFile::read(fixture("llama.gguf"));
        for (const std::string layer : {"blk.0.", "blk.1."}) {
            ForgedFile::Tensor fused = *file.tensor(layer + "attn_q.weight");
            fused.name = layer + "attn_qkv.weight";
            fused.shape[1] = 128;
            fused.data += file.tensor(layer + "attn_k.weight")->data + file.tensor(layer + "attn_v.weight")->data;
            for (const char* part : {"attn_q.weight", "attn_k.weight", "attn_v.weight"}) file.remove(layer + part);
            file.tensors.push_back(fused);
        }
        const auto model = open(file);
        QVERIFY2(model.ok(), model.ok() ? "" : model.error().message.c_str());
        QCOMPARE(planFault((*model)->plan()), std::string());
        QCOMPARE(operations<MatMulOp>((*model)->plan()).size(), std::size_t{2 * 5 + 1});
    }

    void information() {
        const auto info = readModelInfo(fixture("gemma3.gguf"));
        QVERIFY(info.ok());
        QCOMPARE(info->name, std::string("gemma3"));
        QCOMPARE(info->architecture, std::string("gemma3"));
        QCOMPARE(info->format, std::string("F16"));
        QCOMPARE(info->parameters, std::uint64_t{238624});
        QCOMPARE(info->contextLength, std::int64_t{512});
        QCOMPARE(info->layers, std::int64_t{7});
        QCOMPARE(info->vocabulary, std::int64_t{336});
        QCOMPARE(info->kvBytesPerToken, std::uint64_t{7 * 2 * 2 * 16 * 2});
        QVERIFY(info->unsupported.empty() && !info->hasChatTemplate);
        QCOMPARE(info->fileBytes, std::uint64_t{std::filesystem::file_size(fixture("gemma3.gguf"))});

        const auto formats = readModelInfo(fixture("formats.gguf"));
        QVERIFY(formats.ok());
        QVERIFY(!formats->unsupported.empty());
    }

    void progressAndStop() {
        Model::Options options;
        std::vector<double> seen;
        options.progress = [&seen](double fraction) { seen.push_back(fraction); };
        QVERIFY(Model::open(fixture("llama.gguf"), options).ok());
        QVERIFY(seen.size() >= 2 && std::is_sorted(seen.begin(), seen.end()));
        QCOMPARE(seen.back(), 1.0);
        std::stop_source source;
        source.request_stop();
        options.stop = source.get_token();
        const auto stopped = Model::open(fixture("llama.gguf"), options);
        QVERIFY(!stopped.ok() && stopped.error().code == ErrorCode::Cancelled);
    }

    void everyReferenceModelOpensOrSaysWhy() {
        const std::string shared = sharedFolder();
        if (shared.empty()) QSKIP("the reference folder is absent");
        std::size_t opened = 0;
        for (const char* folder : {"fixtures", "models", "formats"}) {
            for (const auto& entry : std::filesystem::directory_iterator(shared + "/data/" + folder)) {
                if (entry.path().extension() != ".gguf") continue;
                const auto model = Model::open(entry.path().string());
                if (model.ok()) {
                    ++opened;
                    QCOMPARE(planFault((*model)->plan()), std::string());
                } else if (entry.path().stem() != "formats") {
                    QVERIFY2(model.error().code == ErrorCode::Unsupported, model.error().message.c_str());
                }
            }
        }
        QVERIFY(opened >= 20);
    }

private:
    Result<std::shared_ptr<const Model>> open(const ForgedFile& file) {
        return Model::open(m_folder.write(std::to_string(m_files++) + ".gguf", file.bytes()));
    }
    TestFolder m_folder;
    int m_files = 0;
};

FIRSTTOKEN_TEST_CLASS(TestPlans);

#include "test_plans.moc"
