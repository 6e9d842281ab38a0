#pragma once

#include <string>
#include <vector>

#include "engine/text/jinja/interpreter.h"

namespace firsttoken::engine::jinja {

/// How filters find the part of an item that they work on: an attribute ("a.b", "0", 0), letter case.
class ItemKey {
public:
    /// `attribute`: None or undefined takes the item itself; `fallback` for attributes that are missing.
    ItemKey(Interpreter& interpreter, const Value& attribute, bool ignoreCase, std::optional<Value> fallback = {});
    Value of(const Value& item) const;

private:
    Interpreter& m_interpreter;
    std::vector<Value> m_path;  ///< names and indices
    bool m_ignoreCase;
    std::optional<Value> m_fallback;
};

}  // namespace firsttoken::engine::jinja
