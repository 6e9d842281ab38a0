#pragma once

#include <optional>
#include <string_view>

#include "sessions/session_records.h"

/// The enumerations of the records from their names; empty for anything else. The names are what the database, exports
/// and the command line hold.
namespace firsttoken::sessions {

std::optional<SessionKind> sessionKindOf(std::string_view name);
std::optional<SessionState> sessionStateOf(std::string_view name);
std::optional<MarkKind> markKindOf(std::string_view name);
std::optional<engine::FinishReason> finishReasonOf(std::string_view name);
std::optional<engine::Stage> stageOf(std::string_view name);

}  // namespace firsttoken::sessions
