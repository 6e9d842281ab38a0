#pragma once

#include <sqlite3.h>

#include <QString>
#include <string>

namespace firsttoken::tests {

/// SQLite itself, to look at a database from outside the store. Text of the first column of every row, "|" between.
class RawDatabase {
public:
    explicit RawDatabase(const std::string& path) {
        if (sqlite3_open(path.c_str(), &m_handle) != SQLITE_OK) qFatal("cannot open %s", path.c_str());
    }
    ~RawDatabase() { sqlite3_close(m_handle); }
    RawDatabase(const RawDatabase&) = delete;
    RawDatabase& operator=(const RawDatabase&) = delete;

    QString query(const std::string& sql) {
        QString rows;
        const auto take = [](void* out, int, char** values, char**) {
            auto& text = *static_cast<QString*>(out);
            if (!text.isEmpty()) text += u'|';
            text += QString::fromUtf8(values[0] == nullptr ? "NULL" : values[0]);
            return 0;
        };
        char* fault = nullptr;
        if (sqlite3_exec(m_handle, sql.c_str(), take, &rows, &fault) != SQLITE_OK) {
            rows = QStringLiteral("error: ") + QString::fromUtf8(fault);
            sqlite3_free(fault);
        }
        return rows;
    }

private:
    sqlite3* m_handle = nullptr;
};

}  // namespace firsttoken::tests
