#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/gguf_file.h"
#include "engine/model/gguf_writer.h"
#include "engine/result.h"

namespace firsttoken::engine {

/// Writes an SPM tokenizer of `count` distinct tokens: <unk>, <s>, </s>, 256 bytes, the characters of ASCII, common
/// English words with the pieces that lead to them, and made-up words up to the count. Pre: count ≥ 512.
void addMadeUpVocabulary(GgufWriter& writer, std::uint32_t count);

/// Tokens of a file's vocabulary. Errors: BadInput if it has none.
Result<std::uint32_t> countTokens(const GgufFile& source);
/// Copies every tokenizer.* record.
void copyVocabulary(const GgufFile& source, GgufWriter& writer);

}  // namespace firsttoken::engine
