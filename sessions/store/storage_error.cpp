#include "sessions/store/storage_error.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;

namespace {

bool outOfSpace(int number) { return number == ENOSPC || number == EDQUOT || number == EFBIG; }

Error diskFull(const std::string& path, int number) {
    const std::string why = number == 0 ? "no space left" : std::strerror(number);
    return {ErrorCode::Io, fmt::format("the disk is full: {} cannot grow ({})", path, why)};
}

std::string reason(const StorageFault& fault) {
    return fault.systemErrno != 0 ? std::strerror(fault.systemErrno) : std::string(fault.text);
}

}  // namespace

Error storageError(const StorageFault& fault, const std::string& path) {
    switch (fault.code & 0xFF) {
        case SQLITE_FULL:
            return diskFull(path, outOfSpace(fault.systemErrno) ? fault.systemErrno : 0);
        case SQLITE_IOERR:
            if (outOfSpace(fault.systemErrno)) return diskFull(path, fault.systemErrno);
            return {ErrorCode::Io, fmt::format("cannot read or write {}: {}", path, reason(fault))};
        case SQLITE_READONLY:
            return {ErrorCode::Io, fmt::format("cannot write {}: it or its folder is read-only", path)};
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return {ErrorCode::Io, fmt::format("cannot open {}: {}", path, reason(fault))};
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {ErrorCode::Rejected, fmt::format("another program is writing to {}", path)};
        case SQLITE_NOTADB:
            return {ErrorCode::Io, fmt::format("{} is damaged, or no session database at all", path)};
        case SQLITE_CORRUPT:
        case SQLITE_ERROR:  // a table or column that the schema's version promises is not there
            return {ErrorCode::Io, fmt::format("{} is damaged: {}", path, fault.text)};
        case SQLITE_NOMEM:
            return {ErrorCode::Io, fmt::format("not enough memory to read or write {}", path)};
        case SQLITE_TOOBIG:
            return {ErrorCode::BadInput, fmt::format("a text is too long for {}", path)};
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH:
            return {ErrorCode::Internal, fmt::format("{} refused a record: {}", path, fault.text)};
        default:
            return {ErrorCode::Io, fmt::format("{}: {}", path, fault.text)};
    }
}

Error systemError(std::string_view doing, const std::string& path, int systemErrno) {
    if (outOfSpace(systemErrno)) return diskFull(path, systemErrno);
    return {ErrorCode::Io, fmt::format("cannot {} {}: {}", doing, path, std::strerror(systemErrno))};
}

}  // namespace firsttoken::sessions
