#include "engine/model/gguf_types.h"

#include <algorithm>
#include <array>

namespace firsttoken::engine {

namespace {

// By id; ids 4, 5, 31 to 33 and 36 to 38 are retired.
constexpr std::array tensorTypes{
    GgufTensorType{0, "F32", 1, 4},         GgufTensorType{1, "F16", 1, 2},
    GgufTensorType{2, "Q4_0", 32, 18},      GgufTensorType{3, "Q4_1", 32, 20},
    GgufTensorType{6, "Q5_0", 32, 22},      GgufTensorType{7, "Q5_1", 32, 24},
    GgufTensorType{8, "Q8_0", 32, 34},      GgufTensorType{9, "Q8_1", 32, 36},
    GgufTensorType{10, "Q2_K", 256, 84},    GgufTensorType{11, "Q3_K", 256, 110},
    GgufTensorType{12, "Q4_K", 256, 144},   GgufTensorType{13, "Q5_K", 256, 176},
    GgufTensorType{14, "Q6_K", 256, 210},   GgufTensorType{15, "Q8_K", 256, 292},
    GgufTensorType{16, "IQ2_XXS", 256, 66}, GgufTensorType{17, "IQ2_XS", 256, 74},
    GgufTensorType{18, "IQ3_XXS", 256, 98}, GgufTensorType{19, "IQ1_S", 256, 50},
    GgufTensorType{20, "IQ4_NL", 32, 18},   GgufTensorType{21, "IQ3_S", 256, 110},
    GgufTensorType{22, "IQ2_S", 256, 82},   GgufTensorType{23, "IQ4_XS", 256, 136},
    GgufTensorType{24, "I8", 1, 1},         GgufTensorType{25, "I16", 1, 2},
    GgufTensorType{26, "I32", 1, 4},        GgufTensorType{27, "I64", 1, 8},
    GgufTensorType{28, "F64", 1, 8},        GgufTensorType{29, "IQ1_M", 256, 56},
    GgufTensorType{30, "BF16", 1, 2},       GgufTensorType{34, "TQ1_0", 256, 54},
    GgufTensorType{35, "TQ2_0", 256, 66},   GgufTensorType{39, "MXFP4", 32, 17},
    GgufTensorType{40, "NVFP4", 64, 36},    GgufTensorType{41, "Q1_0", 128, 18},
    GgufTensorType{42, "Q2_0", 64, 18},
};

}  // namespace

std::string_view toString(GgufType type) {
    switch (type) {
        case GgufType::U8:
            return "u8";
        case GgufType::I8:
            return "i8";
        case GgufType::U16:
            return "u16";
        case GgufType::I16:
            return "i16";
        case GgufType::U32:
            return "u32";
        case GgufType::I32:
            return "i32";
        case GgufType::F32:
            return "f32";
        case GgufType::Bool:
            return "bool";
        case GgufType::String:
            return "string";
        case GgufType::Array:
            return "array";
        case GgufType::U64:
            return "u64";
        case GgufType::I64:
            return "i64";
        case GgufType::F64:
            return "f64";
    }
    return "unknown";
}

std::uint32_t ggufTypeBytes(GgufType type) {
    switch (type) {
        case GgufType::U8:
        case GgufType::I8:
        case GgufType::Bool:
            return 1;
        case GgufType::U16:
        case GgufType::I16:
            return 2;
        case GgufType::U32:
        case GgufType::I32:
        case GgufType::F32:
            return 4;
        case GgufType::U64:
        case GgufType::I64:
        case GgufType::F64:
            return 8;
        case GgufType::String:
        case GgufType::Array:
            return 0;
    }
    return 0;
}

bool isGgufInteger(GgufType type) {
    return type != GgufType::F32 && type != GgufType::F64 && type != GgufType::Bool && type != GgufType::String &&
           type != GgufType::Array;
}

std::optional<GgufTensorType> ggufTensorType(std::int32_t id) {
    const auto found = std::find_if(tensorTypes.begin(), tensorTypes.end(), [id](const auto& t) { return t.id == id; });
    if (found == tensorTypes.end()) return std::nullopt;
    return *found;
}

}  // namespace firsttoken::engine
