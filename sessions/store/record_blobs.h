#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sessions/session_records.h"

/// Lists of times as compact bytes: variable-length integers (7 bits a byte, lowest first, the top bit says that more
/// follow), of differences whose sign is folded into the lowest bit. Any values survive; ascending ones are short
/// (4 bytes for a gap of up to 134 ms). Part of the schema: a change needs a migration. Pure functions.
namespace firsttoken::sessions {

/// count, first value, differences.
std::string packTimes(const std::vector<std::int64_t>& times);
/// Empty for bytes that packTimes() does not write.
std::optional<std::vector<std::int64_t>> unpackTimes(std::string_view bytes);

/// count; for each span: request − the one before, stage, start − the start before, end − start.
std::string packSpans(const std::vector<SpanRecord>& spans);
/// Appends to `spans`; false for bytes that packSpans() does not write.
bool unpackSpans(std::string_view bytes, std::vector<SpanRecord>& spans);

}  // namespace firsttoken::sessions
