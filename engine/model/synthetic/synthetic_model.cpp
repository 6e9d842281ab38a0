#include <fmt/format.h>

#include <array>

#include "engine/model/gguf_file.h"
#include "engine/model/gguf_writer.h"
#include "engine/model/output_file.h"
#include "engine/model/synthetic/shapes.h"
#include "engine/model/synthetic/vocabulary.h"
#include "engine/model/synthetic/weight_pipeline.h"
#include "engine/model_info.h"

// writeSyntheticModel(): see engine/model_info.h.
namespace firsttoken::engine {

namespace {

struct WritableFormat {
    WeightFormat format;
    std::uint32_t fileType;  ///< general.file_type (facts: gguf_formats, section 8)
};
constexpr std::array writableFormats{
    WritableFormat{WeightFormat::F16, 1},   WritableFormat{WeightFormat::Q8_0, 7},
    WritableFormat{WeightFormat::Q4_0, 2},  WritableFormat{WeightFormat::Q5_0, 8},
    WritableFormat{WeightFormat::Q4_K, 14},
};

Result<WritableFormat> findFormat(const std::string& name) {
    const auto asked = formatFromName(name);
    std::string known;
    for (const WritableFormat& each : writableFormats) {
        if (asked == each.format) return each;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", traits(each.format).name);
    }
    return Error{ErrorCode::BadInput, fmt::format("models are not made in the format '{}' (but in {})", name, known)};
}

WeightFormat formatOf(const SyntheticTensor& tensor, WeightFormat wanted) {
    if (tensor.rows == 0) return WeightFormat::F32;
    return tensor.columns % traits(wanted).blockElements == 0 ? wanted : WeightFormat::Q5_0;
}

void addFacts(GgufWriter& writer, const SyntheticShape& shape, std::uint32_t vocabulary, std::uint32_t fileType) {
    const auto key = [&shape](const char* part) { return fmt::format("{}.{}", shape.architecture, part); };
    writer.add("general.architecture", shape.architecture);
    writer.add("general.type", "model");
    writer.add("general.name", fmt::format("{} (random weights)", shape.name));
    writer.add("general.description",
               "Random weights in the shape of a public model: for measuring, it talks nonsense.");
    writer.add("general.file_type", fileType);
    writer.add("general.quantization_version", std::uint32_t{2});
    writer.add(key("context_length"), shape.context);
    writer.add(key("embedding_length"), shape.embedding);
    writer.add(key("block_count"), shape.layers);
    writer.add(key("feed_forward_length"), shape.feedForward);
    writer.add(key("attention.head_count"), shape.heads);
    writer.add(key("attention.head_count_kv"), shape.kvHeads);
    writer.add(key("attention.layer_norm_rms_epsilon"), shape.epsilon);
    writer.add(key("rope.dimension_count"), shape.headDim());
    writer.add(key("rope.freq_base"), shape.ropeBase);
    writer.add(key("vocab_size"), vocabulary);
}

/// Everything but the tensors; returns the number of tokens.
Result<std::uint32_t> addMetadata(const SyntheticModel& what, const SyntheticShape& shape, std::uint32_t fileType,
                                  GgufWriter& writer) {
    if (!what.vocabulary) {
        addFacts(writer, shape, shape.vocabulary, fileType);
        addMadeUpVocabulary(writer, shape.vocabulary);
        return shape.vocabulary;
    }
    const auto source = GgufFile::open(*what.vocabulary);
    if (!source) return source.error();
    const auto tokens = countTokens(*source);
    if (!tokens) return tokens.error();
    addFacts(writer, shape, *tokens, fileType);
    copyVocabulary(*source, writer);
    return *tokens;
}

std::vector<PlacedTensor> placeTensors(const SyntheticShape& shape, std::uint32_t vocabulary, WeightFormat format,
                                       GgufWriter& writer) {
    std::vector<PlacedTensor> placed;
    for (SyntheticTensor& tensor : syntheticTensors(shape, vocabulary)) {
        const WeightFormat stored = formatOf(tensor, format);
        const std::array<std::uint64_t, 2> ne{tensor.columns, tensor.rows};
        const std::uint64_t offset =
            writer.addTensor(tensor.name, stored, std::span(ne).first(tensor.rows == 0 ? 1 : 2));
        placed.push_back({std::move(tensor), stored, offset});
    }
    return placed;
}

}  // namespace

Result<std::uint64_t> writeSyntheticModel(const SyntheticModel& what, const std::string& path) {
    const auto shape = findSyntheticShape(what.shape);
    if (!shape) return shape.error();
    const auto format = findFormat(what.format);
    if (!format) return format.error();

    GgufWriter writer;
    const auto vocabulary = addMetadata(what, *shape, format->fileType, writer);
    if (!vocabulary) return vocabulary.error();
    auto tensors = placeTensors(*shape, *vocabulary, format->format, writer);
    const auto head = writer.head();
    for (PlacedTensor& placed : tensors) placed.offset += head.size();
    const std::uint64_t size = head.size() + writer.dataBytes();

    auto file = OutputFile::create(path);
    if (!file) return file.error();
    if (const auto reserved = file->reserve(size); !reserved) return reserved.error();
    if (const auto written = file->writeAt(0, head); !written) return written.error();
    if (const auto written = writeRandomWeights(tensors, what.seed, *file); !written) return written.error();
    // A vocabulary of another file may be at odds with itself: nothing appears that would not open.
    const auto made = readModelInfo(file->temporaryPath());
    if (!made) return made.error();
    if (!made->unsupported.empty()) {
        return Error{ErrorCode::BadInput, fmt::format("the model would not open: {}", made->unsupported)};
    }
    if (const auto committed = file->commit(); !committed) return committed.error();
    return size;
}

}  // namespace firsttoken::engine
