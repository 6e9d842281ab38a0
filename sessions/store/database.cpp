#include "sessions/store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "sessions/store/storage_error.h"

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

/// A URI for an absolute path; the characters that mean something in a URI are escaped.
std::string frozenUri(const std::string& path) {
    std::string uri = "file:";
    for (const char c : path) {
        if (c == '?' || c == '#' || c == '%') {
            uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
        } else {
            uri += c;
        }
    }
    return uri + "?immutable=1";
}

/// The errno behind a code. SQLite's own is the one of the last call, which may be of the clean-up that followed a
/// write; the files remember theirs: the database, and the log, which is what grows.
int systemErrno(sqlite3* handle, int code) {
    const int last = sqlite3_system_errno(handle);
    if ((code & 0xFF) != SQLITE_IOERR) return last;
    int ofDatabase = 0, ofLog = 0;
    sqlite3_file* log = nullptr;
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &ofDatabase);
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log != nullptr && log->pMethods != nullptr) {
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &ofLog);
    }
    if (ofLog != 0) return ofLog;
    return ofDatabase != 0 ? ofDatabase : last;
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Database> Database::open(const std::string& path, Access access) {
    // The path is absolute, so that SQLite sees neither ":memory:" nor a URI of somebody else's in it.
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    flags |= access == Access::Write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    if (access == Access::ReadFrozen) flags |= SQLITE_OPEN_URI;
    sqlite3* handle = nullptr;
    const auto name = access == Access::ReadFrozen ? frozenUri(path) : path;
    const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
    Database database(handle, path);
    if (code != SQLITE_OK) return database.error(code);
    sqlite3_busy_timeout(handle, kBusyTimeoutMs);
    // A file from elsewhere may hold views of its own; they get no say. A writer needs our triggers, which write FTS5
    // tables, and SQLite 3.40 lets only a trusted schema do that.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, access == Access::Write ? 1 : 0, nullptr);
    return database;
}

bool Database::readOnly() const { return sqlite3_db_readonly(handle(), "main") != 0; }

bool Database::moved() const {
    int moved = 0;
    sqlite3_file_control(handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved != 0;
}

Status Database::execute(const std::string& sql) {
    const int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return error(code);
    return Done{};
}

Result<std::optional<std::int64_t>> Database::number(const std::string& sql) {
    auto statement = Statement::prepare(*this, sql);
    if (!statement) return statement.error();
    const auto row = statement->step();
    if (!row) return row.error();
    if (!*row) return std::optional<std::int64_t>();
    return std::optional(statement->integer(0));
}

std::int64_t Database::changes() const { return sqlite3_changes64(handle()); }

Error Database::error(int code) const {
    if (m_handle == nullptr) return storageError({code, 0, sqlite3_errstr(code)}, m_path);
    const std::string text = sqlite3_errmsg(handle());
    return storageError({code, systemErrno(handle(), code), text}, m_path);
}

void Statement::Finalize::operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }

Result<Statement> Statement::prepare(Database& database, std::string_view sql) {
    sqlite3_stmt* handle = nullptr;
    const int code = sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
    if (code != SQLITE_OK) return database.error(code);
    return Statement(handle, database);
}

void Statement::note(int code) {
    if (m_bindCode == SQLITE_OK) m_bindCode = code;
}

void Statement::bindOne(int index, std::int64_t value) { note(sqlite3_bind_int64(m_handle.get(), index, value)); }
void Statement::bindOne(int index, double value) { note(sqlite3_bind_double(m_handle.get(), index, value)); }
void Statement::bindOne(int index, std::string_view text) {
    // A null pointer would bind NULL.
    const char* bytes = text.data() == nullptr ? "" : text.data();
    note(sqlite3_bind_text64(m_handle.get(), index, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}
void Statement::bindOne(int index, const Blob& blob) {
    const char* bytes = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
    note(sqlite3_bind_blob64(m_handle.get(), index, bytes, blob.bytes.size(), SQLITE_STATIC));
}
void Statement::bindNull(int index) { note(sqlite3_bind_null(m_handle.get(), index)); }

Result<bool> Statement::step() {
    if (m_bindCode != SQLITE_OK) return m_database->error(m_bindCode);
    const int code = sqlite3_step(m_handle.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) {
        sqlite3_reset(m_handle.get());
        return false;
    }
    auto error = m_database->error(code);
    sqlite3_reset(m_handle.get());
    return error;
}

Status Statement::run() {
    for (;;) {
        const auto row = step();
        if (!row) return row.error();
        if (!*row) return Done{};
    }
}

void Statement::reset() {
    sqlite3_reset(m_handle.get());
    m_bindCode = SQLITE_OK;
}

bool Statement::isNull(int column) const { return sqlite3_column_type(m_handle.get(), column) == SQLITE_NULL; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(m_handle.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(m_handle.get(), column); }

std::string Statement::text(int column) const {
    const auto* bytes = sqlite3_column_text(m_handle.get(), column);
    const auto count = static_cast<std::size_t>(sqlite3_column_bytes(m_handle.get(), column));
    return bytes == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(bytes), count);
}

std::string_view Statement::blob(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(m_handle.get(), column));
    const auto count = static_cast<std::size_t>(sqlite3_column_bytes(m_handle.get(), column));
    return bytes == nullptr ? std::string_view() : std::string_view(bytes, count);
}

Transaction::~Transaction() {
    // After some errors SQLite has rolled back already; then this does nothing.
    if (m_open && sqlite3_get_autocommit(m_database.handle()) == 0) {
        static_cast<void>(m_database.execute("ROLLBACK"));
    }
}

Status Transaction::begin() {
    auto begun = m_database.execute("BEGIN IMMEDIATE");
    m_open = begun.ok();
    return begun;
}

Status Transaction::commit() {
    auto committed = m_database.execute("COMMIT");
    if (committed) m_open = false;
    return committed;
}

}  // namespace firsttoken::sessions
