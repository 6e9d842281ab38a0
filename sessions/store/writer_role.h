#pragma once

#include <memory>
#include <string>

#include "engine/result.h"
#include "sessions/store/database.h"
#include "sessions/store/session_tables.h"
#include "sessions/store/writer_lock.h"

namespace firsttoken::sessions {

/// The only writing connection, and the right to use it. The role is taken when something is to be written and given
/// back when nothing is, so that several programs can take turns on one file. Owned by the storage thread.
class WriterRole {
public:
    /// `path` is absolute.
    explicit WriterRole(std::string path) : m_path(std::move(path)) {}

    /// Makes or migrates the file where that is needed, and marks what a crash left Running. Another program may be
    /// writing meanwhile, if the file needs nothing. Errors: as SessionStore::open().
    engine::Status prepareFile();

    /// Does nothing where the role is held. Errors: Rejected (another program is writing), Io (also for a file that
    /// was removed while it was written), Unsupported.
    engine::Status acquire();
    bool held() const { return m_lock.held(); }
    void release() { m_lock.release(); }

    /// Valid while the role is held.
    SessionTables& tables() { return *m_tables; }

private:
    engine::Status makeFile() const;
    engine::Status connect();

    std::string m_path;
    WriterLock m_lock;
    std::unique_ptr<Database> m_database;
    std::unique_ptr<SessionTables> m_tables;  // after the database: its statements go first
};

/// A connection that only reads, also in a folder that cannot be written. Errors: Io.
engine::Result<Database> openForReading(const std::string& path);

}  // namespace firsttoken::sessions
