#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"

namespace firsttoken::sessions {

/// What SQLite said.
struct StorageFault {
    int code = 0;           ///< extended result code
    int systemErrno = 0;    ///< of the system call that failed; 0: none
    std::string_view text;  ///< SQLite's own words
};

/// One sentence with the path, and a typed cause: Rejected where another program holds the file, BadInput for a value
/// that is too large, Internal for a broken rule of the schema, else Io.
engine::Error storageError(const StorageFault& fault, const std::string& path);

/// The same for a system call of our own: "cannot write PATH: …".
engine::Error systemError(std::string_view doing, const std::string& path, int systemErrno);

}  // namespace firsttoken::sessions
