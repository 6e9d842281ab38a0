#pragma once

#include <span>
#include <string>
#include <vector>

#include "sessions/session_records.h"

namespace firsttoken::sessions {

/// A field that must not differ between the runs of a comparison, and does.
struct Unlikeness {
    std::string field;
    std::string reason;  ///< one sentence
};
/// All that keeps two arms from being compared; each field once.
std::vector<Unlikeness> unlikenesses(std::span<const SessionData* const> a, std::span<const SessionData* const> b);

}  // namespace firsttoken::sessions
