#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/result.h"
#include "sessions/store/database.h"

/// Brings a database to the newest schema, one numbered step after the other, each in a transaction of its own.
namespace firsttoken::sessions {

/// Marks our files (PRAGMA application_id): "FTok".
inline constexpr std::int64_t kApplicationId = 0x46546F6B;

/// One step: from version − 1 to version. Never edited after a release; a change is a further step.
struct Migration {
    std::int64_t version = 0;
    std::string_view sql;
};

/// The steps of this build, ascending from 1 without gaps.
std::span<const Migration> migrations();

/// What a file is, before anything is done to it.
enum class SchemaState {
    Empty,  ///< no table yet
    Older,
    Current,
    Newer,    ///< written by a newer program
    Foreign,  ///< another program's database
};
struct SchemaFacts {
    SchemaState state = SchemaState::Empty;
    std::int64_t version = 0;
};
/// Reads only. Errors: Io for what is no database.
engine::Result<SchemaFacts> inspectSchema(Database& database, std::span<const Migration> steps);

enum class MigrationOutcome {
    Created,  ///< the file was empty
    Current,  ///< nothing to do
    Migrated,
    Newer,    ///< untouched
    Foreign,  ///< untouched
    Failed,   ///< the steps before the failed one stay
};
struct MigrationResult {
    MigrationOutcome outcome = MigrationOutcome::Failed;
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::optional<engine::Error> error;  ///< for Newer, Foreign and Failed
};
MigrationResult migrate(Database& database, std::span<const Migration> steps);

/// The sentence for a file that this build must not touch (Unsupported); empty for the others.
std::optional<engine::Error> refusalOf(const SchemaFacts& facts, std::int64_t newest, const std::string& path);

}  // namespace firsttoken::sessions
