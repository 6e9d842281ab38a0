#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "engine/model/families/decoder_writer.h"
#include "engine/model/families/families.h"
#include "engine/model/rope_tables.h"

// Gemma 3, text (facts: architectures, section 6).
namespace firsttoken::engine {

namespace {

constexpr std::int64_t defaultPeriod = 6;
constexpr double defaultLocalBase = 10000.0;
constexpr std::uint32_t layersOf27B = 62;

struct Windows {
    std::uint32_t tokens = 0;  ///< 0: every layer attends to everything
    std::vector<bool> local;   ///< by layer
    double localBase = defaultLocalBase;
};

/// The pattern key is a period (its last layer is global) or a list of bools, true for local layers.
Result<Windows> readWindows(const FamilyInput& input) {
    const GgufFile& file = input.file;
    const std::uint32_t layers = input.values.layers;
    Windows windows;
    windows.local.assign(layers, false);
    const auto tokens = file.integer(input.values.key("attention.sliding_window"), 0, 0x7FFFFFFF);
    if (!tokens) return tokens.error();
    const auto base = file.real(input.values.key("rope.freq_base_swa"), 1.0 + 1e-6, 1e18);
    if (!base) return base.error();
    windows.localBase = base->value_or(defaultLocalBase);
    windows.tokens = static_cast<std::uint32_t>(tokens->value_or(0));

    const std::string key = input.values.key("attention.sliding_window_pattern");
    const GgufEntry* pattern = file.entry(key);
    if (pattern != nullptr && pattern->type == GgufType::Array) {
        const auto list = file.perLayer(key, layers, 0, 1);
        if (!list) return list.error();
        for (std::uint32_t layer = 0; layer < layers; ++layer) windows.local[layer] = (**list)[layer] != 0;
    } else {
        const auto period = file.integer(key, 0, 4096);
        if (!period) return period.error();
        const std::int64_t every = period->value_or(defaultPeriod);
        for (std::uint32_t layer = 0; layer < layers; ++layer) {
            windows.local[layer] = every == 0 || layer % every < every - 1;
        }
    }
    if (windows.tokens == 0) windows.local.assign(layers, false);
    return windows;
}

float attentionScale(const Hyperparameters& values) {
    const auto width = values.layers == layersOf27B
                           ? static_cast<float>(values.embeddingLength) / static_cast<float>(values.heads.front())
                           : static_cast<float>(values.headDim);
    return 1.0F / std::sqrt(width);
}

}  // namespace

Result<Plan> writeGemma3Plan(const FamilyInput& input) {
    const Hyperparameters& values = input.values;
    const auto windows = readWindows(input);
    if (!windows) return windows.error();
    const auto softcap = input.file.real(values.key("final_logit_softcapping"), 0.0, 1e9);
    if (!softcap) return softcap.error();

    // Local layers see positions as they are, whatever the scaling of the global ones.
    RopeParameters localRope = values.rope;
    localRope.base = windows->localBase;
    localRope.scaling = RopeScaling::None;
    localRope.factor = 1.0;
    AttentionRecipe global;
    global.rope = ropeTable(values.rope, RopePairing::Halves);
    global.scale = attentionScale(values);
    global.headNorms = true;
    global.postNorm = true;
    AttentionRecipe local = global;
    local.rope = ropeTable(localRope, RopePairing::Halves);
    local.window = windows->tokens;

    DecoderWriter writer(input.file, values);
    writer.embed(std::sqrt(static_cast<float>(values.embeddingLength)));
    for (std::uint32_t layer = 0; layer < values.layers; ++layer) {
        writer.attention(layer, windows->local[layer] ? local : global);
        writer.feedForward(layer, {Activation::GeluTanh, true});
    }
    writer.head(static_cast<float>(softcap->value_or(0.0)));
    return writer.finish();
}

}  // namespace firsttoken::engine
