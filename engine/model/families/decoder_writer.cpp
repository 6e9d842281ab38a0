#include "engine/model/families/decoder_writer.h"

#include <fmt/format.h>

#include <cmath>

namespace firsttoken::engine {

DecoderWriter::DecoderWriter(const GgufFile& file, const Hyperparameters& values)
    : m_file(file),
      m_values(values),
      m_builder(file),
      m_residual(m_builder.buffer("residual", values.embeddingLength)),
      m_normed(m_builder.buffer("normed", values.embeddingLength)),
      m_branch(m_builder.buffer("branch", values.embeddingLength)) {}

std::string DecoderWriter::name(std::uint32_t layer, const char* part) const {
    return fmt::format("blk.{}.{}", layer, part);
}

void DecoderWriter::multiply(BufferId in, BufferId out, const std::string& stem, std::size_t columns, std::size_t rows,
                             std::size_t outOffset, bool needsBias) {
    const WeightId weight = m_builder.matrix(stem + ".weight", columns, rows);
    const std::int64_t bias = needsBias ? std::int64_t{m_builder.vector(stem + ".bias", rows)}
                                        : m_builder.optionalVector(stem + ".bias", rows);
    m_builder.add(MatMulOp{in, out, weight, bias, outOffset});
}

void DecoderWriter::embed(float scale) {
    m_builder.add(EmbedOp{m_builder.matrix("token_embd.weight", m_values.embeddingLength, m_values.vocabulary),
                          m_residual, scale});
}

void DecoderWriter::projections(std::uint32_t layer, bool biases) {
    const std::size_t width = m_values.embeddingLength;
    const std::size_t queries = std::size_t{m_values.heads[layer]} * m_values.headDim;
    const std::size_t keys = std::size_t{m_values.kvHeads[layer]} * m_values.headDim;
    const BufferId qkv = m_builder.buffer("qkv", queries + 2 * keys);
    if (m_file.tensor(name(layer, "attn_qkv.weight")) != nullptr) {
        multiply(m_normed, qkv, name(layer, "attn_qkv"), width, queries + 2 * keys, 0, biases);
        return;
    }
    multiply(m_normed, qkv, name(layer, "attn_q"), width, queries, 0, biases);
    multiply(m_normed, qkv, name(layer, "attn_k"), width, keys, queries, biases);
    multiply(m_normed, qkv, name(layer, "attn_v"), width, keys, queries + keys, biases);
}

void DecoderWriter::rotate(std::uint32_t layer, const AttentionRecipe& recipe) {
    const std::uint32_t heads = m_values.heads[layer], kvHeads = m_values.kvHeads[layer], dim = m_values.headDim;
    const std::size_t queries = std::size_t{heads} * dim, keys = std::size_t{kvHeads} * dim;
    const BufferId qkv = m_builder.buffer("qkv", queries + 2 * keys);
    if (recipe.headNorms) {
        const WeightId q = m_builder.vector(name(layer, "attn_q_norm.weight"), dim);
        const WeightId k = m_builder.vector(name(layer, "attn_k_norm.weight"), dim);
        m_builder.add(HeadNormOp{qkv, 0, heads, dim, q, m_values.epsilon});
        m_builder.add(HeadNormOp{qkv, queries, kvHeads, dim, k, m_values.epsilon});
    }
    const std::uint32_t table = m_builder.ropeTable(recipe.rope);
    m_builder.add(RopeOp{qkv, 0, heads, dim, table});
    m_builder.add(RopeOp{qkv, queries, kvHeads, dim, table});
}

void DecoderWriter::attention(std::uint32_t layer, const AttentionRecipe& recipe) {
    if (!m_builder.ok()) return;
    const std::uint32_t heads = m_values.heads[layer], kvHeads = m_values.kvHeads[layer], dim = m_values.headDim;
    const std::size_t queries = std::size_t{heads} * dim, keys = std::size_t{kvHeads} * dim;
    m_builder.layer(kvHeads, dim, recipe.window);
    const WeightId norm = m_builder.vector(name(layer, "attn_norm.weight"), m_values.embeddingLength);
    m_builder.add(RmsNormOp{m_residual, m_normed, norm, m_values.epsilon});
    projections(layer, recipe.biases);
    rotate(layer, recipe);

    const BufferId qkv = m_builder.buffer("qkv", queries + 2 * keys);
    const BufferId attended = m_builder.buffer("attended", queries);
    AttentionOp attend{};
    attend.q = attend.k = attend.v = qkv;
    attend.out = attended;
    attend.kOffset = queries;
    attend.vOffset = queries + keys;
    attend.layer = layer;
    attend.queryHeads = heads;
    attend.kvHeads = kvHeads;
    attend.headDim = dim;
    attend.scale = recipe.scale > 0.0F ? recipe.scale : 1.0F / std::sqrt(static_cast<float>(dim));
    m_builder.add(attend);
    multiply(attended, m_branch, name(layer, "attn_output"), queries, m_values.embeddingLength);
    addBranch(m_branch, recipe.postNorm, name(layer, "post_attention_norm.weight"));
}

void DecoderWriter::feedForward(std::uint32_t layer, const FeedForwardRecipe& recipe) {
    if (!m_builder.ok()) return;
    const std::size_t width = m_values.embeddingLength, inner = m_values.feedForwardLength[layer];
    const WeightId norm = m_builder.vector(name(layer, "ffn_norm.weight"), width);
    m_builder.add(RmsNormOp{m_residual, m_normed, norm, m_values.epsilon});
    const BufferId gate = m_builder.buffer("gate", inner), up = m_builder.buffer("up", inner);
    multiply(m_normed, gate, name(layer, "ffn_gate"), width, inner);
    multiply(m_normed, up, name(layer, "ffn_up"), width, inner);
    GatedOp gated{};
    gated.gate = gated.out = gate;
    gated.up = up;
    gated.width = inner;
    gated.activation = recipe.activation;
    m_builder.add(gated);
    multiply(gate, m_branch, name(layer, "ffn_down"), inner, width);
    addBranch(m_branch, recipe.postNorm, name(layer, "post_ffw_norm.weight"));
}

void DecoderWriter::addBranch(BufferId in, bool norm, const std::string& normName) {
    if (norm) {
        m_builder.add(RmsNormOp{in, in, m_builder.vector(normName, m_values.embeddingLength), m_values.epsilon});
    }
    m_builder.add(AddOp{m_residual, in});
}

void DecoderWriter::head(float softcap) {
    if (!m_builder.ok()) return;
    const std::size_t width = m_values.embeddingLength;
    const BufferId wanted = m_builder.buffer("wanted", width);
    m_builder.add(SelectRowsOp{m_residual, wanted});
    m_builder.add(RmsNormOp{wanted, wanted, m_builder.vector("output_norm.weight", width), m_values.epsilon});
    const bool tied = m_file.tensor("output.weight") == nullptr;
    const WeightId weight = m_builder.matrix(tied ? "token_embd.weight" : "output.weight", width, m_values.vocabulary);
    m_logits = m_builder.buffer("logits", m_values.vocabulary);
    m_builder.add(MatMulOp{wanted, m_logits, weight, m_builder.optionalVector("output.bias", m_values.vocabulary), 0});
    if (softcap > 0.0F) m_builder.add(SoftcapOp{m_logits, softcap});
}

Result<Plan> DecoderWriter::finish() { return m_builder.finish(m_logits); }

}  // namespace firsttoken::engine
