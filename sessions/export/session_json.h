#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"
#include "sessions/session_records.h"

namespace firsttoken::sessions {

/// A whole session as one JSON document (UTF-8, a record a line): {"format": "firsttoken-session", "version": 1,
/// "session": {…}, "requests": […], "spans": […], "samples": […], "marks": […]}. Names carry units, unknown values are
/// null, times are nanoseconds on the session's axis. fromJson() gives an equal session back, except that invalid
/// UTF-8 becomes U+FFFD and numbers that are not finite become unknown. Profiles, workload and machine are objects
/// where their text is compact JSON, else strings. Pure functions: any thread.
std::string toJson(const SessionData& session);

/// Text of any origin. Requests come by number, samples and marks by time; the id stays for the caller to ignore.
/// Unknown names are passed over. Errors: BadInput with the place ("requests[3].planned_ns must be …"), Unsupported
/// for a newer version.
engine::Result<SessionData> fromJson(std::string_view json);

}  // namespace firsttoken::sessions
