#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/result.h"
#include "sessions/session_records.h"
#include "sessions/store/database.h"

/// Every statement that changes the database. Owned by the storage thread; the caller opens the transaction.
namespace firsttoken::sessions {

/// What tells one state of a file from another.
struct FileStamp {
    std::int64_t bytes = 0;
    std::int64_t modifiedNs = 0;
};
/// Empty for what is no readable file.
std::optional<FileStamp> fileStamp(const std::string& path);

class SessionTables {
public:
    /// The database must have the current schema, and must outlive this.
    static engine::Result<std::unique_ptr<SessionTables>> prepare(Database& database);

    Database& database() { return m_database; }

    /// The header's id is ignored. A number that is not finite counts as 0, or as unknown.
    engine::Result<SessionId> addSession(const SessionHeader& header);
    /// Replaces the request with the same number. `searchable`: its texts are found by a search.
    engine::Status putRequest(SessionId session, bool searchable, const RequestRecord& record);
    engine::Status addSpans(SessionId session, const std::vector<SpanRecord>& spans);
    engine::Status addSample(SessionId session, const SampleRecord& record);
    engine::Status addMark(SessionId session, const MarkRecord& record);
    /// Brings the number of requests that lists show up to date.
    engine::Status countRequests(SessionId session);

    /// A complete session, with a new id. Running becomes Interrupted: nobody writes it. Errors: BadInput for two
    /// requests with one number.
    engine::Result<SessionId> insertWhole(const SessionData& session);

    // Errors: NotFound.
    engine::Status setTitle(SessionId session, const std::string& title);
    engine::Status setNote(SessionId session, const std::string& note);
    engine::Status setStarred(SessionId session, bool starred);
    engine::Status setModelHash(SessionId session, const std::string& sha256);
    engine::Status endSession(SessionId session, SessionState state, const std::string& failure,
                              std::optional<double> endedAt);
    engine::Status removeSession(SessionId session);

    /// What no process writes any more.
    engine::Status interruptRunning();
    engine::Status putModelHash(const std::string& path, const FileStamp& stamp, const std::string& sha256);

    /// Gives the space of removed records back to the disk, and leaves none of their words in the search. Outside a
    /// transaction.
    engine::Status reclaim();
    /// Moves the log into the database, so that it is written from its start again. False where that failed.
    bool shortenLog();

private:
    struct Statements;
    SessionTables(Database& database, std::unique_ptr<Statements> statements);
    template <class... Values>
    engine::Status changeOne(SessionId session, Statement& statement, const Values&... values);

    Database& m_database;
    std::unique_ptr<Statements> m_statements;

public:
    ~SessionTables();
};

}  // namespace firsttoken::sessions
