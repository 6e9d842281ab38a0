#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/profile.h"

namespace firsttoken::engine {

/// A value of a YAML text with its place; line and column count from 1, columns in characters.
struct YamlNode {
    enum class Kind { Null, Scalar, List, Map };
    Kind kind = Kind::Null;
    std::string text;     ///< of a scalar
    bool quoted = false;  ///< a scalar in quotes or a block: text, whatever it looks like
    int line = 1;
    int column = 1;
    std::vector<YamlNode> keys;    ///< of a map, in the file's order, duplicates included
    std::vector<YamlNode> values;  ///< of a map, one a key; or the items of a list
};

struct YamlTree {
    YamlNode root;                     ///< Null for an empty text
    std::vector<ProfileError> errors;  ///< at most one: nothing after it can be trusted
};

/// Reads one YAML document of any origin. Refused, with the place: over 1 MiB, invalid UTF-8, deep nesting, anchors
/// and aliases (they multiply), tags, several documents.
YamlTree readYaml(std::string_view text);

}  // namespace firsttoken::engine
