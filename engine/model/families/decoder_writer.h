#pragma once

#include <cstdint>
#include <string>

#include "engine/model/gguf_file.h"
#include "engine/model/hyperparameters.h"
#include "engine/model/plan_builder.h"

namespace firsttoken::engine {

/// How one layer attends.
struct AttentionRecipe {
    RopeTable rope;
    float scale = 0.0F;        ///< 0: 1 / sqrt(headDim)
    std::uint32_t window = 0;  ///< 0: full attention
    bool biases = false;       ///< q, k and v must have biases
    bool headNorms = false;    ///< attn_q_norm, attn_k_norm, before RoPE
    bool postNorm = false;     ///< post_attention_norm, on what is added to the residual
};

struct FeedForwardRecipe {
    Activation activation = Activation::Silu;
    bool postNorm = false;  ///< post_ffw_norm, on what is added to the residual
};

/// The shared pieces of the decoder families: a residual stream, pre-norm attention and a gated feed-forward a layer,
/// and the head. q, k and v stand beside each other in one buffer, whether the file has them fused or apart. Biases
/// are used where the file has them.
class DecoderWriter {
public:
    DecoderWriter(const GgufFile& file, const Hyperparameters& values);

    void embed(float scale = 1.0F);
    /// Layers come in order: attention() then feedForward() of each.
    void attention(std::uint32_t layer, const AttentionRecipe& recipe);
    void feedForward(std::uint32_t layer, const FeedForwardRecipe& recipe);
    /// Row selection, output norm, output matrix (token_embd where there is none), softcap (0: none).
    void head(float softcap = 0.0F);
    Result<Plan> finish();

    PlanBuilder& builder() { return m_builder; }

private:
    void projections(std::uint32_t layer, bool biases);
    void rotate(std::uint32_t layer, const AttentionRecipe& recipe);
    /// Norms `in` if asked, then adds it to the residual.
    void addBranch(BufferId in, bool norm, const std::string& normName);
    void multiply(BufferId in, BufferId out, const std::string& name, std::size_t columns, std::size_t rows,
                  std::size_t outOffset = 0, bool needsBias = false);
    std::string name(std::uint32_t layer, const char* part) const;

    const GgufFile& m_file;
    const Hyperparameters& m_values;
    PlanBuilder m_builder;
    BufferId m_residual, m_normed, m_branch;
    BufferId m_logits = 0;
};

}  // namespace firsttoken::engine
