#pragma once

#include <string>

#include "engine/text/jinja/value.h"

/// How values become text in Python.
namespace firsttoken::engine::jinja {

/// str(value).
MarkedString toText(const Value& value);
/// repr(value): strings in quotes, with escapes.
MarkedString toRepresentation(const Value& value);
/// repr() of a float: the shortest text that reads back the same; "1.0", "1e+16", "inf".
std::string printReal(double value);

}  // namespace firsttoken::engine::jinja
