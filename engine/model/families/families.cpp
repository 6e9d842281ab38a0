#include "engine/model/families/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace firsttoken::engine {

namespace {

struct Family {
    std::string_view architecture;
    WritePlan write;
};
constexpr std::array families{
    Family{"gemma3", writeGemma3Plan},
    Family{"llama", writeLlamaPlan},
    Family{"qwen2", writeQwen2Plan},
};

/// What the file is, before what is in it.
std::optional<Error> checkKind(const GgufFile& file) {
    const auto shards = file.integer("split.count", 0, 65535);
    if (!shards) return shards.error();
    if (shards->value_or(1) > 1) {
        return file.fault(
            fmt::format("is one of {} parts of a split model, which are not supported: join them into one "
                        "file first",
                        **shards),
            ErrorCode::Unsupported);
    }
    const auto kind = file.string("general.type");
    if (!kind) return kind.error();
    if (kind->value_or("model") != "model") {
        return file.fault(fmt::format("is no model (general.type is '{}')", printableName(**kind)),
                          ErrorCode::Unsupported);
    }
    if (file.tensors().empty()) {
        return file.fault("holds no weights, only a vocabulary or other metadata", ErrorCode::Unsupported);
    }
    return std::nullopt;
}

/// The layer that a tensor's name claims, or nothing.
std::optional<std::uint64_t> layerOf(std::string_view name) {
    constexpr std::string_view prefix = "blk.";
    if (!name.starts_with(prefix)) return std::nullopt;
    std::uint64_t layer = 0;
    const auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), layer);
    if (error != std::errc() || end == name.data() + name.size() || *end != '.') return std::nullopt;
    return layer;
}

/// Tensors that would change the result if they were left out, and that no family here reads.
std::optional<Error> checkExtras(const GgufFile& file, const Hyperparameters& values) {
    for (const GgufTensor& tensor : file.tensors()) {
        const std::string name = printableName(tensor.name);
        if (tensor.name.ends_with(".scale") || tensor.name.ends_with(".input_scale")) {
            return file.fault(fmt::format("tensor '{}' scales another one, which is not supported", name),
                              ErrorCode::Unsupported);
        }
        if (tensor.name.find("_exps.") != std::string_view::npos ||
            tensor.name.find(".ffn_gate_inp.") != std::string_view::npos) {
            return file.fault(fmt::format("tensor '{}' belongs to a mixture of experts, which is not supported", name),
                              ErrorCode::Unsupported);
        }
        if (layerOf(tensor.name).value_or(0) >= values.layers) {
            return file.fault(fmt::format("tensor '{}' lies beyond the {} layers of the key '{}'", name, values.layers,
                                          values.key("block_count")));
        }
    }
    return std::nullopt;
}

/// Plans promise values at their natural alignment; an alignment of 1 or 2 would break that.
std::optional<Error> checkAlignment(const GgufFile& file) {
    if (file.alignment() >= sizeof(float)) return std::nullopt;
    return file.fault(fmt::format("aligns its tensors to {} bytes; at least 4 are supported", file.alignment()),
                      ErrorCode::Unsupported);
}

}  // namespace

WritePlan findFamily(std::string_view architecture) {
    const auto found = std::find_if(families.begin(), families.end(),
                                    [architecture](const Family& f) { return f.architecture == architecture; });
    return found == families.end() ? nullptr : found->write;
}

std::string supportedArchitectures() {
    std::string names;
    for (const Family& family : families) {
        if (!names.empty()) names += ", ";
        names += family.architecture;
    }
    return names;
}

Result<Plan> writePlan(const GgufFile& file, std::int64_t contextTokens) {
    if (auto wrong = checkKind(file)) return *wrong;
    const auto architecture = file.requireString("general.architecture");
    if (!architecture) return architecture.error();
    const WritePlan write = findFamily(*architecture);
    if (write == nullptr) {
        return file.fault(fmt::format("the architecture '{}' is not supported (supported: {})",
                                      printableName(*architecture), supportedArchitectures()),
                          ErrorCode::Unsupported);
    }
    if (auto wrong = checkAlignment(file)) return *wrong;
    const auto values = readHyperparameters(file);
    if (!values) return values.error();
    if (values->experts > 0) {
        return file.fault(fmt::format("is a mixture of {} experts, which is not supported", values->experts),
                          ErrorCode::Unsupported);
    }
    auto plan = write({file, *values, contextTokens == 0 ? values->contextLength : contextTokens});
    if (!plan) return plan.error();
    if (auto wrong = checkExtras(file, *values)) return *wrong;
    return plan;
}

}  // namespace firsttoken::engine
