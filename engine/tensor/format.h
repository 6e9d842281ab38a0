#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/tensor/half.h"

namespace firsttoken::engine {

/// Storage format of a weight tensor. The values are GGUF's type ids.
/// Only formats that this build decodes are listed; others are known by size in the GGUF reader.
enum class WeightFormat : std::uint8_t {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q5_0 = 6,
    Q8_0 = 8,
    Q4_K = 12,
    Q5_K = 13,
    Q6_K = 14,
    BF16 = 30,
};

struct FormatTraits {
    std::string_view name;         ///< as in GGUF tools: "Q4_K"
    std::uint32_t blockElements;   ///< elements a block; a row is a whole number of blocks
    std::uint32_t blockBytes;
    bool isFloat;                  ///< F32, F16, BF16: never multiplied with int8 activations
};

/// Traits of a supported format.
const FormatTraits& traits(WeightFormat format);
/// By GGUF type id; empty for one that this build does not decode.
std::optional<WeightFormat> formatFromGgufType(std::int32_t id);
/// By name, any letter case; empty if unknown.
std::optional<WeightFormat> formatFromName(std::string_view name);
/// Every supported format, in the order of the ids.
std::span<const WeightFormat> allFormats();

/// Bytes of a row of `elements` values. Pre: elements is a multiple of blockElements.
std::size_t rowBytes(WeightFormat format, std::size_t elements);

/// Decodes `elements` values (a whole number of blocks) from `source` (rowBytes long, any alignment) to f32.
void decodeRow(WeightFormat format, const std::byte* source, float* values, std::size_t elements);
/// Encodes with the reference quantiser's rules (facts: gguf_formats, section 7). `values` must be finite.
void encodeRow(WeightFormat format, const float* values, std::byte* target, std::size_t elements);

}  // namespace firsttoken::engine
