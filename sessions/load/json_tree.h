#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/result.h"

namespace firsttoken::sessions {

/// A JSON value that knows where its key stands, so that faults can name line and column.
struct JsonNode {
    enum class Kind { Null, Boolean, Number, Text, Object, Array };
    Kind kind = Kind::Null;
    bool boolean = false;
    double number = 0;
    std::optional<std::uint64_t> whole;  ///< of a number written without sign, point and exponent
    std::string text;
    std::vector<std::pair<std::string, JsonNode>> members;
    std::vector<JsonNode> elements;
    int line = 1, column = 1;  ///< of its key; of the text's start where it has none

    bool operator==(const JsonNode&) const = default;
    const JsonNode* find(std::string_view key) const;
};

/// JSON text of any origin. Errors: BadInput with line and column: no JSON, a duplicate key, over 1 MiB, nested deeper
/// than 32.
engine::Result<JsonNode> parseJsonTree(std::string_view text);

}  // namespace firsttoken::sessions
