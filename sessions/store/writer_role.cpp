#include "sessions/store/writer_role.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "sessions/store/migrations.h"
#include "sessions/store/storage_error.h"

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::Status;

namespace {

/// Long enough for another program to change a title, too short to be felt.
constexpr std::chrono::milliseconds kLockPatience{500};

// synchronous FULL: a commit is on the disk, also when the power fails; there are at most a few each second.
// auto_vacuum and secure_delete: what is removed frees its space, and its text is gone. The order matters:
// auto_vacuum can only be chosen before the first page is written.
constexpr const char* kWriterSettings =
    "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
    "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216;";

bool isEmptyOrAbsent(const std::string& path) {
    std::error_code fault;
    const auto bytes = std::filesystem::file_size(path, fault);
    return fault || bytes == 0;
}

}  // namespace

Result<Database> openForReading(const std::string& path) {
    constexpr const char* anyRead = "SELECT count(*) FROM sqlite_master";
    auto database = Database::open(path, Database::Access::Read);
    const auto read = database ? database->number(anyRead) : Result<std::optional<std::int64_t>>(database.error());
    if (read) return database;
    // In a folder that nobody here can write, SQLite cannot make the files it shares with writers. There is no writer
    // then; without a log of one, the file alone is the whole truth.
    const auto folder = std::filesystem::path(path).parent_path();
    const bool writable = ::access(folder.c_str(), W_OK) == 0;
    if (writable || !isEmptyOrAbsent(path + "-wal") || isEmptyOrAbsent(path)) return read.error();
    auto frozen = Database::open(path, Database::Access::ReadFrozen);
    if (!frozen) return frozen.error();
    if (const auto again = frozen->number(anyRead); !again) return again.error();
    return frozen;
}

Status WriterRole::prepareFile() {
    if (std::error_code fault; std::filesystem::is_directory(m_path, fault)) {
        return Error{ErrorCode::Io, fmt::format("{} is a folder, not a database", m_path)};
    }
    if (isEmptyOrAbsent(m_path)) return acquire();
    auto database = openForReading(m_path);
    if (!database) return database.error();
    const auto facts = inspectSchema(*database, migrations());
    if (!facts) return facts.error();
    if (auto refusal = refusalOf(*facts, migrations().back().version, m_path)) return *refusal;
    if (facts->state != SchemaState::Current) return acquire();
    const auto running = database->number("SELECT 1 FROM session WHERE state = 'running' LIMIT 1");
    if (!running) return running.error();
    // Not refused where it cannot be had: then they are running elsewhere, or nobody can write here.
    if (*running) static_cast<void>(acquire());
    return Done{};
}

Status WriterRole::acquire() {
    if (held() && !m_database->moved()) return Done{};
    if (held()) return Error{ErrorCode::Io, fmt::format("{} was removed while a session was written", m_path)};
    if (auto made = makeFile(); !made) return made;
    auto lock = WriterLock::acquire(m_path, kLockPatience);
    if (!lock) return lock.error();
    if (auto connected = connect(); !connected) return connected;
    if (auto marked = m_tables->interruptRunning(); !marked) return marked;
    m_lock = std::move(*lock);
    return Done{};
}

/// Chats are private: the file can be read by its owner only. SQLite gives its side files the same rights. A file
/// that is there is not opened here: closing it again would drop the locks of this program's readers on it.
Status WriterRole::makeFile() const {
    std::error_code fault;
    if (std::filesystem::exists(m_path, fault)) return Done{};
    const auto folder = std::filesystem::path(m_path).parent_path();
    if (!std::filesystem::is_directory(folder, fault)) {
        fault.clear();
        std::filesystem::create_directories(folder, fault);
        if (fault) return systemError("make the folder", folder.string(), fault.value());
    }
    const int descriptor = ::open(m_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0 && errno != EEXIST) return systemError("write", m_path, errno);
    if (descriptor >= 0) ::close(descriptor);
    return Done{};
}

Status WriterRole::connect() {
    if (m_database != nullptr) {
        // Since the role was given back, somebody may have removed the file, or a newer program migrated it.
        const auto facts = inspectSchema(*m_database, migrations());
        if (!m_database->moved() && facts && facts->state == SchemaState::Current) return Done{};
        m_tables.reset();
        m_database.reset();
    }
    auto opened = Database::open(m_path, Database::Access::Write);
    if (!opened) return opened.error();
    auto database = std::make_unique<Database>(std::move(*opened));
    if (database->readOnly()) return Error{ErrorCode::Io, fmt::format("cannot write {}: it is read-only", m_path)};
    // Looked at before any setting is changed: a file that is not ours stays as it is.
    const auto facts = inspectSchema(*database, migrations());
    if (!facts) return facts.error();
    if (auto refusal = refusalOf(*facts, migrations().back().version, m_path)) return *refusal;
    if (auto set = database->execute(kWriterSettings); !set) return set;
    if (auto migrated = migrate(*database, migrations()); migrated.error) return *migrated.error;
    auto tables = SessionTables::prepare(*database);
    if (!tables) return tables.error();
    m_database = std::move(database);
    m_tables = std::move(*tables);
    return Done{};
}

}  // namespace firsttoken::sessions
