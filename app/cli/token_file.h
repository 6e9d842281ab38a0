#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/result.h"
#include "engine/text.h"

namespace firsttoken::app {

/// What `evaluate --tokens` reads: a list of ids, or an object with `prompt` and perhaps `context`.
struct TokenFile {
    std::vector<engine::TokenId> ids;     ///< at least one; not yet compared with a vocabulary
    std::optional<std::int64_t> context;  ///< the room of the sequence, in tokens
};

/// Errors: as readWholeFile; BadInput, naming the file and the place.
engine::Result<TokenFile> readTokenFile(const std::string& path);

}  // namespace firsttoken::app
