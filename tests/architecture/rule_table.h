#pragma once

#include <QString>
#include <QStringList>
#include <vector>

/// The one table of who may include what. A pattern is a folder with everything below it ("engine/tensor/"), the
/// headers directly in a folder ("engine/*.h"), or one file. Only data; include_rules.cpp applies it.
namespace firsttoken::tests {

/// What the files below a folder may include of ours, beside their own folder. The longest matching folder acts.
struct RoomRule {
    QString folder;
    QStringList mayInclude;
};

/// Where headers of other people's may be included. The first rule with a matching header acts.
struct LibraryRule {
    QString name;
    QStringList headers;  ///< beginnings of the name between < and >
    QStringList folders;  ///< beginnings of the path of the including file
};

/// A header that is forbidden below the given folders (all of them: "").
struct ForbiddenHeader {
    QString header;
    QString folder;
    QString why;
};

struct RuleTable {
    std::vector<RoomRule> rooms;
    std::vector<LibraryRule> libraries;
    std::vector<ForbiddenHeader> forbidden;
};

inline RuleTable firsttokenRules() {
    RuleTable table;
    table.rooms = {
        // The public headers know only each other.
        {"engine/", {}},
        {"engine/tensor/", {"engine/result.h"}},
        {"engine/model/", {"engine/tensor/", "engine/model_info.h", "engine/result.h"}},
        {"engine/text/", {"engine/model/gguf_file.h", "engine/text.h", "engine/profile.h", "engine/result.h"}},
        {"engine/profile/", {"engine/profile.h", "engine/model_info.h", "engine/device.h", "engine/result.h"}},
        {"engine/compute/", {"engine/tensor/", "engine/model/plan.h", "engine/device.h", "engine/result.h"}},
        {"engine/cache/", {"engine/compute/backend.h", "engine/result.h"}},
        {"engine/schedule/",
         {"engine/cache/", "engine/compute/backend.h", "engine/events.h", "engine/profile.h", "engine/result.h"}},
        {"engine/sample/", {"engine/profile.h", "engine/result.h"}},
        {"engine/observe/", {"engine/events.h", "engine/device.h", "engine/result.h"}},
        {"engine/statistics/", {"engine/statistics.h", "engine/result.h"}},
        {"engine/path/", {"engine/text.h", "engine/events.h", "engine/profile.h", "engine/result.h"}},
        {"engine/core/", {"engine/"}},
        {"sessions/", {"engine/*.h"}},
        {"ui/", {"sessions/*.h", "engine/*.h"}},
        // Composition roots build what the rooms offer; the engine is entered by its doors even here.
        {"app/", {"ui/", "sessions/", "engine/*.h"}},
        // Tests may look inside the room that they mirror, and at what that room may use.
        {"tests/", {}},
        {"tests/engine/", {"tests/support/", "engine/"}},
        {"tests/sessions/", {"tests/support/", "sessions/", "engine/*.h"}},
        {"tests/ui/", {"tests/support/", "ui/", "sessions/*.h", "engine/*.h"}},
        {"tests/app/", {"tests/support/", "app/", "ui/", "sessions/", "engine/*.h"}},
        {"tests/packaging/", {"tests/support/"}},
        {"tests/benchmarks/", {"tests/sessions/", "sessions/", "engine/*.h"}},
        {"tests/architecture/", {"tests/support/"}},
    };
    table.libraries = {
        {"Qt", {"Q", "qt"}, {"ui/", "app/desktop/", "tests/"}},
        {"QCustomPlot", {"qcustomplot.h"}, {"ui/"}},
        {"SQLite", {"sqlite3.h"}, {"sessions/store/", "tests/sessions/"}},
        {"yaml-cpp", {"yaml-cpp/"}, {"engine/profile/"}},
        {"libcurl", {"curl/"}, {"sessions/models/"}},
        {"libzip", {"zip.h"}, {"sessions/models/"}},
        {"JSON for Modern C++",
         {"nlohmann/"},
         {"engine/text/", "engine/profile/", "sessions/", "app/cli/", "tests/engine/", "tests/sessions/",
          "tests/app/"}},
        {"CLI11", {"CLI/"}, {"app/cli/"}},
        {"fmt", {"fmt/"}, {"engine/", "sessions/", "app/", "tests/"}},
        {"xxHash", {"xxhash.h"}, {"engine/cache/"}},
        {"OpenSSL", {"openssl/"}, {"sessions/", "engine/serve/"}},
        {"x86 intrinsics", {"immintrin.h", "cpuid.h", "x86intrin.h"}, {"engine/compute/", "engine/observe/"}},
        {"operating system",
         {"sys/", "linux/", "unistd.h", "fcntl.h", "poll.h", "sched.h", "dlfcn.h", "pthread.h", "termios.h", "signal.h",
          "spawn.h", "dirent.h", "grp.h", "pwd.h", "time.h"},
         {"engine/model/", "engine/compute/", "engine/observe/", "engine/core/", "sessions/", "app/", "tests/"}},
    };
    table.forbidden = {
        {"regex", "", "std::regex is slow and recurses without bound on hostile input"},
        {"ranges", "engine/", "clang-16, which fuzzes the engine, does not take libstdc++'s views"},
        {"iostream", "engine/", "the engine prints nothing"},
    };
    return table;
}

}  // namespace firsttoken::tests
