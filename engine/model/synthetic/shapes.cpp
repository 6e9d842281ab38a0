#include "engine/model/synthetic/shapes.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace firsttoken::engine {

namespace {

constexpr std::array shapes{
    // Rows of 192 and of 256: K formats meet both kinds.
    SyntheticShape{"tiny", "llama", 2, 192, 6, 2, 256, 512, 2048, 10000.0F, 1e-5F, false, false},
    SyntheticShape{"smollm2-135m", "llama", 30, 576, 9, 3, 1536, 49152, 8192, 100000.0F, 1e-5F, true, false},
    SyntheticShape{"qwen2.5-0.5b", "qwen2", 24, 896, 14, 2, 4864, 151936, 32768, 1000000.0F, 1e-6F, true, true},
    SyntheticShape{"tinyllama-1.1b", "llama", 22, 2048, 32, 4, 5632, 32000, 2048, 10000.0F, 1e-5F, false, false},
};

}  // namespace

Result<SyntheticShape> findSyntheticShape(std::string_view name) {
    std::string known;
    for (const SyntheticShape& shape : shapes) {
        if (shape.name == name) return shape;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", shape.name);
    }
    return Error{ErrorCode::BadInput, fmt::format("there is no model shape '{}' (there are: {})", name, known)};
}

// Products keep a spread of one where their input has it, so that nothing grows or fades over the layers. What a layer
// adds to the residual is twice the embedding: with less, a tied model would only repeat its last token. Logits end
// up with a spread of about two.
std::vector<SyntheticTensor> syntheticTensors(const SyntheticShape& shape, std::uint32_t vocabulary) {
    const std::uint32_t width = shape.embedding, queries = shape.heads * shape.headDim();
    const std::uint32_t keys = shape.kvHeads * shape.headDim(), inner = shape.feedForward;
    const double unit = 1.0 / std::sqrt(width);
    const SyntheticSpread embedding{0.0, 2.0 * unit}, projection{0.0, unit}, norm{1.0, 0.1}, bias{0.0, 0.1};
    const auto added = [unit](std::uint32_t columns) { return SyntheticSpread{0.0, 4.0 * unit / std::sqrt(columns)}; };

    std::vector<SyntheticTensor> tensors{{"token_embd.weight", width, vocabulary, embedding},
                                         {"output_norm.weight", width, 0, norm}};
    if (!shape.tied) tensors.push_back({"output.weight", width, vocabulary, embedding});
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        const auto add = [&](const char* part, std::uint32_t columns, std::uint32_t rows, SyntheticSpread spread) {
            tensors.push_back({fmt::format("blk.{}.{}", layer, part), columns, rows, spread});
        };
        add("attn_norm.weight", width, 0, norm);
        add("attn_q.weight", width, queries, projection);
        add("attn_k.weight", width, keys, projection);
        add("attn_v.weight", width, keys, projection);
        add("attn_output.weight", queries, width, added(queries));
        if (shape.biases) {
            add("attn_q.bias", queries, 0, bias);
            add("attn_k.bias", keys, 0, bias);
            add("attn_v.bias", keys, 0, bias);
        }
        add("ffn_norm.weight", width, 0, norm);
        add("ffn_gate.weight", width, inner, projection);
        add("ffn_up.weight", width, inner, projection);
        add("ffn_down.weight", inner, width, added(inner));
    }
    return tensors;
}

}  // namespace firsttoken::engine
