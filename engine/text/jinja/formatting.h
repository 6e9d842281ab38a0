#pragma once

#include "engine/text/jinja/value.h"

/// Python's ways to build text from a pattern.
namespace firsttoken::engine::jinja {

/// `pattern % values`: %s %r %d %i %u %f %e %g %x %X %o %c %%, with flags, width, precision and (names).
MarkedString percentFormat(const MarkedString& pattern, const Value& values);
/// `pattern.format(…)`: {}, {0}, {name}; conversions !s and !r; no attributes, no format specifications.
MarkedString braceFormat(const MarkedString& pattern, const Arguments& arguments);
/// datetime.strftime() in the C locale, for midnight of the date.
std::string formatDate(std::string_view pattern, int year, int month, int day);

}  // namespace firsttoken::engine::jinja
