#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// The type ids of the GGUF container. Values are stored as 32-bit signed integers.
namespace firsttoken::engine {

/// Type of a metadata value.
enum class GgufType : std::int32_t {
    U8 = 0,
    I8 = 1,
    U16 = 2,
    I16 = 3,
    U32 = 4,
    I32 = 5,
    F32 = 6,
    Bool = 7,
    String = 8,
    Array = 9,
    U64 = 10,
    I64 = 11,
    F64 = 12,
};

/// "u32", "string", …
std::string_view toString(GgufType type);
/// Bytes of one value; 0 for strings and arrays, whose size is their own.
std::uint32_t ggufTypeBytes(GgufType type);
/// Whether a value of this type is a whole number.
bool isGgufInteger(GgufType type);

/// Size of a tensor type, known also for those that this build cannot decode.
struct GgufTensorType {
    std::int32_t id = 0;
    std::string_view name;
    std::uint32_t blockElements = 1;  ///< never 0
    std::uint32_t blockBytes = 1;
};

/// Empty for ids that were never assigned, or were retired.
std::optional<GgufTensorType> ggufTensorType(std::int32_t id);

}  // namespace firsttoken::engine
