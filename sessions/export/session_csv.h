#pragma once

#include <string>

#include "sessions/session_records.h"

/// Tables for spreadsheets and scripts: RFC 4180 (comma, CRLF, quotes doubled), UTF-8 without a mark, one header row
/// with units in the names; empty: unknown. A text that a spreadsheet would take for a formula gets a ' before it;
/// numbers stay numbers. Pure functions: any thread.
namespace firsttoken::sessions {

/// A row for each request, with every field; delta_ns holds the times of its deltas with spaces between.
std::string requestsToCsv(const SessionData& session);
/// A row for each sample of the gauges.
std::string samplesToCsv(const SessionData& session);

}  // namespace firsttoken::sessions
