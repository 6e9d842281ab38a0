#pragma once

#include <cstdint>
#include <vector>

#include "engine/model/output_file.h"
#include "engine/model/synthetic/shapes.h"
#include "engine/tensor/format.h"

namespace firsttoken::engine {

/// A tensor and where its bytes go.
struct PlacedTensor {
    SyntheticTensor tensor;
    WeightFormat format = WeightFormat::F32;
    std::uint64_t offset = 0;  ///< from the file's start

    std::uint32_t rowCount() const { return tensor.rows == 0 ? 1 : tensor.rows; }
};

/// Makes, encodes and writes the random weights, a few rows at a time, with two threads. The bytes do not depend on
/// how the work is shared. Errors: the file's.
Status writeRandomWeights(const std::vector<PlacedTensor>& tensors, std::uint64_t seed, const OutputFile& file);

}  // namespace firsttoken::engine
