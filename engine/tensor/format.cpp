#include "engine/tensor/format.h"

#include <algorithm>
#include <array>

#include "engine/tensor/codec.h"

namespace firsttoken::engine {

namespace {

constexpr std::array formats{WeightFormat::F32,  WeightFormat::F16,  WeightFormat::Q4_0,
                             WeightFormat::Q5_0, WeightFormat::Q8_0, WeightFormat::Q4_K,
                             WeightFormat::Q5_K, WeightFormat::Q6_K, WeightFormat::BF16};

const Codec& codecFor(WeightFormat format) {
    switch (format) {
        case WeightFormat::F32:
            return f32Codec;
        case WeightFormat::F16:
            return f16Codec;
        case WeightFormat::Q4_0:
            return q4_0Codec;
        case WeightFormat::Q5_0:
            return q5_0Codec;
        case WeightFormat::Q8_0:
            return q8_0Codec;
        case WeightFormat::Q4_K:
            return q4_kCodec;
        case WeightFormat::Q5_K:
            return q5_kCodec;
        case WeightFormat::Q6_K:
            return q6_kCodec;
        case WeightFormat::BF16:
            return bf16Codec;
    }
    return f32Codec;
}

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

const FormatTraits& traits(WeightFormat format) { return codecFor(format).traits; }

std::optional<WeightFormat> formatFromGgufType(std::int32_t id) {
    const auto found = std::find_if(formats.begin(), formats.end(),
                                    [id](WeightFormat format) { return static_cast<std::int32_t>(format) == id; });
    if (found == formats.end()) return std::nullopt;
    return *found;
}

std::optional<WeightFormat> formatFromName(std::string_view name) {
    const auto found = std::find_if(formats.begin(), formats.end(), [name](WeightFormat format) {
        const std::string_view known = traits(format).name;
        return std::equal(name.begin(), name.end(), known.begin(), known.end(),
                          [](char a, char b) { return upper(a) == upper(b); });
    });
    if (found == formats.end()) return std::nullopt;
    return *found;
}

std::span<const WeightFormat> allFormats() { return formats; }

std::size_t rowBytes(WeightFormat format, std::size_t elements) {
    const FormatTraits& facts = traits(format);
    return elements / facts.blockElements * facts.blockBytes;
}

void decodeRow(WeightFormat format, const std::byte* source, float* values, std::size_t elements) {
    const Codec& codec = codecFor(format);
    codec.decode(source, values, elements / codec.traits.blockElements);
}

void encodeRow(WeightFormat format, const float* values, std::byte* target, std::size_t elements) {
    const Codec& codec = codecFor(format);
    codec.encode(values, target, elements / codec.traits.blockElements);
}

}  // namespace firsttoken::engine
