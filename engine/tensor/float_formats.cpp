#include "engine/tensor/codec.h"

// F32, F16, BF16: a block is one value.
namespace firsttoken::engine {

namespace {

void decodeF32(const std::byte* source, float* values, std::size_t blocks) {
    std::memcpy(values, source, blocks * sizeof(float));
}
void encodeF32(const float* values, std::byte* target, std::size_t blocks) {
    std::memcpy(target, values, blocks * sizeof(float));
}

template <float (*convert)(std::uint16_t)>
void decode16(const std::byte* source, float* values, std::size_t blocks) {
    for (std::size_t i = 0; i < blocks; ++i) values[i] = convert(loadAs<std::uint16_t>(source + 2 * i));
}
template <std::uint16_t (*convert)(float)>
void encode16(const float* values, std::byte* target, std::size_t blocks) {
    for (std::size_t i = 0; i < blocks; ++i) storeAs(target + 2 * i, convert(values[i]));
}

}  // namespace

const Codec f32Codec{{"F32", 1, 4, true}, decodeF32, encodeF32};
const Codec f16Codec{{"F16", 1, 2, true}, decode16<halfToFloat>, encode16<floatToHalf>};
const Codec bf16Codec{{"BF16", 1, 2, true}, decode16<bfloatToFloat>, encode16<floatToBfloat>};

}  // namespace firsttoken::engine
