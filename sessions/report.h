#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/result.h"
#include "sessions/compare/comparison.h"
#include "sessions/session_records.h"

/// A report to show to others: one HTML file with everything in it (no scripts, nothing remote), readable on screen, in
/// the dark and printed. It is well-formed XML too. Any thread.
namespace firsttoken::sessions {

struct ReportOptions {
    std::optional<double> writtenAt;  ///< Unix seconds; empty: not said, so that equal sessions give equal text
    /// Empty: where the sessions make two arms they are compared: all of one effective profile against all of another
    /// one, or the second of two sessions against the first.
    std::optional<Comparison> comparison;
};

/// Times of every session start at its own zero, on one scale. All text from models and people is escaped; characters
/// that no document may hold are dropped. No session gives a report that says so. 100,000 requests: about 1 MB.
std::string renderReport(std::span<const SessionData> sessions, const ReportOptions& options = {});

/// Writes beside the file and renames: a reader sees the old report or the new one. Errors: Io, naming the path.
engine::Status writeReport(const std::string& path, std::span<const SessionData> sessions,
                           const ReportOptions& options = {});

}  // namespace firsttoken::sessions
