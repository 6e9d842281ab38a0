#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/result.h"
#include "sessions/session_store.h"
#include "sessions/store/database.h"
#include "sessions/store/session_tables.h"

namespace firsttoken::sessions {

/// A connection that only reads. Each call sees one moment of the database, whatever is written meanwhile. Used by one
/// thread at a time.
class SessionReader {
public:
    /// Errors: Io; Unsupported for a schema that is not this build's.
    static engine::Result<std::unique_ptr<SessionReader>> open(const std::string& path);

    /// False once the file was removed or replaced.
    bool usable() const { return !m_database.moved(); }

    // As in SessionStore.
    engine::Result<std::vector<SessionSummary>> list(const std::string& search);
    engine::Result<SessionHeader> header(SessionId id);
    engine::Result<SessionData> load(SessionId id);
    /// Empty where it is not known, or of another state of the file.
    engine::Result<std::optional<std::string>> modelHash(const std::string& path, const FileStamp& stamp);

private:
    explicit SessionReader(Database database) : m_database(std::move(database)) {}
    engine::Result<SessionHeader> readHeader(SessionId id);
    engine::Status readRequests(SessionData& data);
    engine::Status readTexts(SessionData& data);
    engine::Status readSpans(SessionData& data);
    engine::Status readSamples(SessionData& data);
    engine::Status readMarks(SessionData& data);
    engine::Error damaged(SessionId id, std::string_view what) const;

    Database m_database;
};

}  // namespace firsttoken::sessions
