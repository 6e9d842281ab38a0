#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model_info.h"
#include "engine/result.h"

namespace firsttoken::engine {

/// The size of a public model, without its weights.
struct SyntheticShape {
    std::string_view name;
    std::string_view architecture;
    std::uint32_t layers, embedding, heads, kvHeads, feedForward, vocabulary, context;
    float ropeBase, epsilon;
    bool tied;    ///< the embedding is the output matrix, too
    bool biases;  ///< of q, k and v

    std::uint32_t headDim() const { return embedding / heads; }
};

/// Errors: BadInput with the names that there are.
Result<SyntheticShape> findSyntheticShape(std::string_view name);

/// How the numbers of a tensor are spread: normal with this mean and deviation.
struct SyntheticSpread {
    double mean = 0.0;
    double deviation = 0.0;
};
struct SyntheticTensor {
    std::string name;
    std::uint32_t columns = 0;
    std::uint32_t rows = 0;  ///< 0: a vector, stored as F32
    SyntheticSpread spread;
};

/// Every tensor of the shape with `vocabulary` tokens, in the file's order.
std::vector<SyntheticTensor> syntheticTensors(const SyntheticShape& shape, std::uint32_t vocabulary);

}  // namespace firsttoken::engine
