#include "engine/model/families/decoder_writer.h"
#include "engine/model/families/families.h"
#include "engine/model/rope_tables.h"

// Qwen 2 and 2.5 (facts: architectures, section 4).
namespace firsttoken::engine {

Result<Plan> writeQwen2Plan(const FamilyInput& input) {
    DecoderWriter writer(input.file, input.values);
    AttentionRecipe attention;
    attention.rope = ropeTable(input.values.rope, RopePairing::Halves);
    attention.biases = true;
    writer.embed();
    for (std::uint32_t layer = 0; layer < input.values.layers; ++layer) {
        writer.attention(layer, attention);
        writer.feedForward(layer, {});
    }
    writer.head();
    return writer.finish();
}

}  // namespace firsttoken::engine
