#pragma once

#include <string>

#include "engine/device.h"
#include "engine/engine.h"
#include "sessions/session_records.h"

namespace firsttoken::sessions {

/// What a session on this engine has in common with every other: model, profile (requested, effective, changes),
/// arithmetic, machine and build. Kind, title, times and model hash are the caller's. Any thread.
SessionHeader headerOf(const engine::Engine& engine);

/// JSON array of {key, requested, effective, reason}.
std::string toJson(const std::vector<engine::ProfileChange>& changes);
/// JSON object of the facts; unknown ones are null.
std::string toJson(const engine::MachineFacts& facts);

}  // namespace firsttoken::sessions
