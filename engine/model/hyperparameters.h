#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/gguf_file.h"
#include "engine/result.h"

namespace firsttoken::engine {

enum class RopeScaling { None, Linear, Yarn };

struct RopeParameters {
    std::uint32_t dimensions = 0;  ///< R: even, 2 … headDim
    double base = 10000.0;
    RopeScaling scaling = RopeScaling::Linear;
    double factor = 1.0;           ///< ≥ 1 lengthens; frequencies are divided by it
    double originalContext = 0.0;  ///< positions the model was trained on before it was lengthened
    double attentionFactor = 1.0;  ///< multiplies the rotary magnitude
};

/// The numbers that the decoder families share (facts: architectures, section 1), each in a sane range and agreeing
/// with the others. Whether the tensors agree is the plan's to check.
struct Hyperparameters {
    std::string architecture;
    std::uint32_t layers = 0;
    std::int64_t contextLength = 0;
    std::size_t embeddingLength = 0;             ///< D
    std::size_t vocabulary = 0;                  ///< V: rows of token_embd.weight
    std::vector<std::size_t> feedForwardLength;  ///< F, by layer
    std::vector<std::uint32_t> heads;            ///< H, by layer
    std::vector<std::uint32_t> kvHeads;          ///< Hk, by layer; divides H
    std::uint32_t headDim = 0;                   ///< hd, of keys and values
    float epsilon = 0.0F;
    RopeParameters rope;
    std::int64_t experts = 0;

    /// A key of this architecture: key("block_count") is "llama.block_count".
    std::string key(const char* name) const { return architecture + "." + name; }
};

/// Errors: BadInput with the key that is missing, of another type, out of range, or at odds with another.
Result<Hyperparameters> readHyperparameters(const GgufFile& file);

}  // namespace firsttoken::engine
