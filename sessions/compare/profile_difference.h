#pragma once

#include <string>
#include <vector>

#include "sessions/compare/comparison.h"

namespace firsttoken::sessions {

/// Keys whose effective or requested values differ, in the profile's order.
std::vector<ProfileDifference> profileDifferences(const SessionHeader& a, const SessionHeader& b);

/// A value of a profile (JSON of any origin) as JSON, by its dotted key; empty where it is not there.
std::string profileValue(const std::string& profileJson, const std::string& key);

/// Whether two profiles are the same engine: everything but limits and prices.
bool sameSettings(const std::string& profileA, const std::string& profileB);

}  // namespace firsttoken::sessions
