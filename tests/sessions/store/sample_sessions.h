#pragma once

#include <cstdint>
#include <random>

#include "sessions/session_records.h"

/// Sessions for the tests of the store and of exports.
namespace firsttoken::tests {

/// A small chat and a small load with every field set, always the same: what the fixture of each schema version holds.
/// Never changed: the fixtures were written with it.
sessions::SessionData fixtureChat();
sessions::SessionData fixtureLoad();

/// Any values that a record can hold: all enumerators, absent and present times, extremes, texts with quotes, line
/// ends, other scripts and NUL. Ordered as a store gives it back; the header's id is 0 and the state not Running.
sessions::SessionData randomSession(std::mt19937_64& random);
/// The same within what a real session could be: what an import accepts.
sessions::SessionData plausibleSession(std::mt19937_64& random);

/// `requests` like those of a load: 64 deltas each, four spans, and a sample for every ten.
sessions::SessionData largeLoad(std::int64_t requests);

}  // namespace firsttoken::tests
