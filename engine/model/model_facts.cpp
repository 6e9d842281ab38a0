#include "engine/model/model_facts.h"

#include <filesystem>
#include <limits>
#include <map>

#include "engine/model/families/families.h"

namespace firsttoken::engine {

namespace {

std::string textOf(const GgufFile& file, std::string_view key) {
    const auto value = file.string(key);
    return value.ok() && value->has_value() ? std::string(**value) : std::string();
}

std::int64_t numberOf(const GgufFile& file, const std::string& key) {
    const auto value = file.integer(key, 0);
    return value.ok() ? value->value_or(0) : 0;
}

/// The format of most weight bytes; norms and biases, which are F32 in every file, do not count.
std::string formatOf(const GgufFile& file) {
    std::map<std::string_view, std::uint64_t> bytes;
    for (const GgufTensor& tensor : file.tensors()) {
        if (tensor.dimensions >= 2) bytes[tensor.type.name] += tensor.bytes.size();
    }
    if (bytes.empty()) return {};
    auto most = bytes.begin();
    for (auto each = bytes.begin(); each != bytes.end(); ++each) {
        if (each->second > most->second) most = each;
    }
    return std::string(most->first) + (bytes.size() > 1 ? " (mixed)" : "");
}

}  // namespace

ModelInfo describeFile(const GgufFile& file) {
    ModelInfo info;
    info.path = file.path();
    info.name = textOf(file, "general.name");
    if (info.name.empty()) info.name = std::filesystem::path(file.path()).stem().string();
    info.architecture = textOf(file, "general.architecture");
    info.format = formatOf(file);
    info.fileBytes = file.fileBytes();
    for (const GgufTensor& tensor : file.tensors()) {
        info.weightBytes += tensor.bytes.size();
        info.parameters += tensor.elements;
    }
    info.contextLength = numberOf(file, info.architecture + ".context_length");
    info.layers = numberOf(file, info.architecture + ".block_count");
    info.embeddingLength = numberOf(file, info.architecture + ".embedding_length");
    const GgufTensor* embedding = file.tensor("token_embd.weight");
    const GgufEntry* tokens = file.entry("tokenizer.ggml.tokens");
    if (embedding != nullptr) {
        info.vocabulary = static_cast<std::int64_t>(embedding->shape[1]);
    } else if (tokens != nullptr && tokens->type == GgufType::Array) {
        info.vocabulary = static_cast<std::int64_t>(tokens->count);
    }
    info.hasChatTemplate = !textOf(file, "tokenizer.chat_template").empty();
    return info;
}

void describePlan(const Plan& plan, ModelInfo& info) {
    constexpr std::uint64_t bytesOfF16 = 2;
    info.kvBytesPerToken = 0;
    for (const KvShape& layer : plan.layers) {
        info.kvBytesPerToken += 2 * std::uint64_t{layer.kvHeads} * layer.headDim * bytesOfF16;
    }
}

Result<ModelInfo> readModelInfo(const std::string& path) {
    const auto file = GgufFile::open(path);
    if (!file) return file.error();
    ModelInfo info = describeFile(*file);
    const auto plan = writePlan(*file, 0);
    if (plan.ok()) {
        describePlan(*plan, info);
    } else {
        info.unsupported = plan.error().message;
    }
    return info;
}

}  // namespace firsttoken::engine
