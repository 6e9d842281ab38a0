#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/result.h"

/// Facts of a model file, read from its metadata; no weights are touched. Any thread.
namespace firsttoken::engine {

struct ModelInfo {
    std::string path;
    std::string name;                  ///< general.name, else the file's stem
    std::string architecture;
    std::string format;                ///< the format of most weight bytes, "Q4_K (mixed)" where others join
    std::uint64_t fileBytes = 0;
    std::uint64_t weightBytes = 0;
    std::uint64_t parameters = 0;
    std::int64_t contextLength = 0;
    std::int64_t layers = 0;
    std::int64_t embeddingLength = 0;
    std::int64_t vocabulary = 0;
    bool hasChatTemplate = false;
    /// KV bytes one token takes at f16, all layers together.
    std::uint64_t kvBytesPerToken = 0;
    /// Empty if this build can run it; else why not, naming the thing.
    std::string unsupported;
};

/// Errors: BadInput or Io for a file that is no readable GGUF. An unsupported architecture is no error here.
Result<ModelInfo> readModelInfo(const std::string& path);

/// Writes a model of random weights: a fixed shape, one format in every matrix (facts: gguf_formats, section 8
/// for rows that are no multiple of 256). It talks nonsense; it is for measuring.
struct SyntheticModel {
    std::string shape = "tiny";        ///< tiny, smollm2-135m, qwen2.5-0.5b, tinyllama-1.1b
    std::string format = "Q4_0";       ///< F16, Q8_0, Q4_0, Q5_0, Q4_K
    std::optional<std::string> vocabulary;  ///< a GGUF whose tokenizer is taken; none: 256 bytes and a few words
    std::uint64_t seed = 1;
};
/// Returns the bytes written. Writes beside `path` and renames: never half a file under the final name.
Result<std::uint64_t> writeSyntheticModel(const SyntheticModel& what, const std::string& path);

}  // namespace firsttoken::engine
