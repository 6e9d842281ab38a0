#include <fmt/format.h>

#include <cmath>

#include "engine/model/families/decoder_writer.h"
#include "engine/model/families/families.h"
#include "engine/model/rope_tables.h"

// Llama 1 to 3, Mistral, SmolLM2, TinyLlama, Yi … (facts: architectures, section 3).
namespace firsttoken::engine {

namespace {

std::optional<Error> checkRope(const FamilyInput& input) {
    const RopeParameters& rope = input.values.rope;
    if (rope.dimensions != input.values.headDim) {
        return input.file.fault(
            fmt::format("the key '{}' is {}, but a head of this architecture turns all its {} values",
                        input.values.key("rope.dimension_count"), rope.dimensions, input.values.headDim));
    }
    return std::nullopt;
}

}  // namespace

Result<Plan> writeLlamaPlan(const FamilyInput& input) {
    if (auto wrong = checkRope(input)) return *wrong;
    DecoderWriter writer(input.file, input.values);
    // Llama 3's scaling comes as divisors, one a pair.
    const auto factors = writer.builder().optionalValues("rope_freqs.weight", input.values.rope.dimensions / 2);
    for (const float factor : factors) {
        if (!(factor > 0.0F) || !std::isfinite(factor)) {
            return input.file.fault(fmt::format("tensor 'rope_freqs.weight' holds the impossible divisor {}", factor));
        }
    }
    AttentionRecipe attention;
    attention.rope = ropeTable(input.values.rope, RopePairing::Adjacent, factors);
    writer.embed();
    for (std::uint32_t layer = 0; layer < input.values.layers; ++layer) {
        writer.attention(layer, attention);
        writer.feedForward(layer, {});
    }
    writer.head();
    return writer.finish();
}

}  // namespace firsttoken::engine
