#pragma once

#include <span>

#include "engine/text/vocabulary.h"

namespace firsttoken::engine {

/// Fills `endOfGeneration`, `rendered` and `stripsAfter`, and makes control tokens of those that end a generation by
/// their text but are typed otherwise. `byKey`: ids that keys of the file name as ends.
void markSpecialTokens(std::span<const TokenId> byKey, Vocabulary& vocabulary);

}  // namespace firsttoken::engine
