#include "sessions/store/migrations.h"

#include <fmt/format.h>

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::Status;

namespace {

std::int64_t newestOf(std::span<const Migration> steps) { return steps.empty() ? 0 : steps.back().version; }

Status checkForeignKeys(Database& database) {
    auto orphans = Statement::prepare(database, "PRAGMA foreign_key_check");
    if (!orphans) return orphans.error();
    const auto row = orphans->step();
    if (!row) return row.error();
    if (!*row) return Done{};
    return Error{ErrorCode::Io, fmt::format("{} is damaged: records in table {} belong to no session", database.path(),
                                            orphans->text(0))};
}

Status applyStep(Database& database, const Migration& step) {
    Transaction transaction(database);
    if (auto begun = transaction.begin(); !begun) return begun;
    // Another program may have done it while this one waited for the lock.
    const auto version = database.number("PRAGMA user_version");
    if (!version) return version.error();
    if (version->value_or(0) >= step.version) return Done{};
    const auto sql = fmt::format("{}\nPRAGMA application_id = {}; PRAGMA user_version = {};", step.sql, kApplicationId,
                                 step.version);
    if (auto done = database.execute(sql); !done) return done;
    if (auto sound = checkForeignKeys(database); !sound) return sound;
    return transaction.commit();
}

}  // namespace

Result<SchemaFacts> inspectSchema(Database& database, std::span<const Migration> steps) {
    const auto version = database.number("PRAGMA user_version");
    if (!version) return version.error();
    const auto application = database.number("PRAGMA application_id");
    if (!application) return application.error();
    const auto objects = database.number("SELECT count(*) FROM sqlite_master");
    if (!objects) return objects.error();
    SchemaFacts facts;
    facts.version = version->value_or(0);
    const bool untouched = facts.version == 0 && application->value_or(0) == 0 && objects->value_or(0) == 0;
    if (untouched) {
        facts.state = SchemaState::Empty;
    } else if (application->value_or(0) != kApplicationId || facts.version < 1) {
        facts.state = SchemaState::Foreign;
    } else if (facts.version > newestOf(steps)) {
        facts.state = SchemaState::Newer;
    } else {
        facts.state = facts.version < newestOf(steps) ? SchemaState::Older : SchemaState::Current;
    }
    return facts;
}

std::optional<Error> refusalOf(const SchemaFacts& facts, std::int64_t newest, const std::string& path) {
    if (facts.state == SchemaState::Foreign) {
        return Error{ErrorCode::Unsupported, fmt::format("{} is the database of another program", path)};
    }
    if (facts.state == SchemaState::Newer) {
        return Error{ErrorCode::Unsupported,
                     fmt::format("{} was written by a newer version of this program (its schema is {}, this program "
                                 "knows up to {})",
                                 path, facts.version, newest)};
    }
    return std::nullopt;
}

MigrationResult migrate(Database& database, std::span<const Migration> steps) {
    const auto facts = inspectSchema(database, steps);
    if (!facts) return {MigrationOutcome::Failed, 0, 0, facts.error()};
    MigrationResult result{MigrationOutcome::Current, facts->version, facts->version, std::nullopt};
    result.error = refusalOf(*facts, newestOf(steps), database.path());
    switch (facts->state) {
        case SchemaState::Newer:
            result.outcome = MigrationOutcome::Newer;
            return result;
        case SchemaState::Foreign:
            result.outcome = MigrationOutcome::Foreign;
            return result;
        case SchemaState::Current:
            return result;
        case SchemaState::Empty:
        case SchemaState::Older:
            break;
    }
    for (const auto& step : steps) {
        if (step.version <= facts->version) continue;
        if (const auto done = applyStep(database, step); !done) {
            result.outcome = MigrationOutcome::Failed;
            result.error = done.error();
            return result;
        }
        result.to = step.version;
    }
    result.outcome = facts->state == SchemaState::Empty ? MigrationOutcome::Created : MigrationOutcome::Migrated;
    return result;
}

}  // namespace firsttoken::sessions
