#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

struct sqlite3;
struct sqlite3_stmt;

/// SQLite's C API behind two small handles. Each connection, with its statements, belongs to one thread at a time.
namespace firsttoken::sessions {

/// How long a connection waits for a lock that another program holds.
inline constexpr int kBusyTimeoutMs = 5000;

/// One connection. Closes itself; its statements must be gone by then.
class Database {
public:
    enum class Access {
        Read,
        ReadFrozen,  ///< nothing beside the file is looked at or made: for a folder that nobody can write
        Write,       ///< makes the file where it is absent
    };
    /// `path` is absolute. Errors: Io, each naming the path.
    static engine::Result<Database> open(const std::string& path, Access access);

    sqlite3* handle() const { return m_handle.get(); }
    const std::string& path() const { return m_path; }
    bool readOnly() const;
    /// The file was removed or replaced since it was opened.
    bool moved() const;

    /// One or more statements without parameters.
    engine::Status execute(const std::string& sql);
    /// The first column of the first row; none where there is no row.
    engine::Result<std::optional<std::int64_t>> number(const std::string& sql);
    std::int64_t changes() const;

    /// The sentence for what SQLite refused last, with `code` (extended).
    engine::Error error(int code) const;

private:
    struct Close {
        void operator()(sqlite3* handle) const;
    };
    Database(sqlite3* handle, std::string path) : m_handle(handle), m_path(std::move(path)) {}

    std::unique_ptr<sqlite3, Close> m_handle;
    std::string m_path;
};

/// One prepared statement. Use: bind(…), then step() until it gives false; bind() starts it again.
class Statement {
public:
    static engine::Result<Statement> prepare(Database& database, std::string_view sql);

    /// All parameters in order. Texts and blobs are not copied: they must live until the last step().
    template <class... Values>
    Statement& bind(const Values&... values) {
        reset();
        int index = 0;
        (bindOne(++index, values), ...);
        return *this;
    }
    void bindList(const std::vector<std::string>& texts) {
        reset();
        for (std::size_t i = 0; i < texts.size(); ++i) bindOne(static_cast<int>(i) + 1, texts[i]);
    }
    /// True: there is a row. Errors: as Database::error().
    engine::Result<bool> step();
    /// Steps to the end, for statements without rows.
    engine::Status run();
    /// Ends it, so that it holds no lock.
    void reset();

    // Columns of the current row, from 0.
    bool isNull(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    /// Valid until the next step() or bind().
    std::string_view blob(int column) const;

private:
    struct Finalize {
        void operator()(sqlite3_stmt* handle) const;
    };
    Statement(sqlite3_stmt* handle, const Database& database) : m_handle(handle), m_database(&database) {}

    void bindOne(int index, std::int64_t value);
    /// SQLite has no unsigned integers: the signed one of the same bits.
    void bindOne(int index, std::uint64_t value) { bindOne(index, static_cast<std::int64_t>(value)); }
    void bindOne(int index, bool value) { bindOne(index, std::int64_t{value}); }
    void bindOne(int index, double value);
    void bindOne(int index, std::string_view text);
    void bindOne(int index, const std::string& text) { bindOne(index, std::string_view(text)); }
    void bindNull(int index);
    struct Blob {
        std::string_view bytes;
    };
    void bindOne(int index, const Blob& blob);
    template <class T>
    void bindOne(int index, const std::optional<T>& value) {
        if (value) {
            bindOne(index, *value);
        } else {
            bindNull(index);
        }
    }
    void note(int code);

    std::unique_ptr<sqlite3_stmt, Finalize> m_handle;
    const Database* m_database;
    int m_bindCode = 0;  ///< the first refusal of a bind (a text that is too long, no memory)

public:
    static Blob asBlob(std::string_view bytes) { return {bytes}; }
};

/// Reads the columns of a row from left to right.
class Columns {
public:
    explicit Columns(const Statement& statement) : m_statement(statement) {}
    std::int64_t integer() { return m_statement.integer(m_column++); }
    bool boolean() { return integer() != 0; }
    double real() { return m_statement.real(m_column++); }
    std::string text() { return m_statement.text(m_column++); }
    std::string_view blob() { return m_statement.blob(m_column++); }
    std::optional<std::int64_t> optionalInteger() {
        return m_statement.isNull(m_column) ? skip<std::int64_t>() : std::optional(integer());
    }
    std::optional<double> optionalReal() {
        return m_statement.isNull(m_column) ? skip<double>() : std::optional(real());
    }

private:
    template <class T>
    std::optional<T> skip() {
        ++m_column;
        return std::nullopt;
    }
    const Statement& m_statement;
    int m_column = 0;
};

/// BEGIN IMMEDIATE … COMMIT, or a rollback at the end of the scope.
class Transaction {
public:
    explicit Transaction(Database& database) : m_database(database) {}
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    engine::Status begin();
    engine::Status commit();

private:
    Database& m_database;
    bool m_open = false;
};

}  // namespace firsttoken::sessions
