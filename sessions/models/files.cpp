#include "sessions/models/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::Status;

namespace {

/// Closes its descriptor at the end of the scope.
class Descriptor {
public:
    explicit Descriptor(int number) : m_number(number) {}
    ~Descriptor() {
        if (m_number >= 0) ::close(m_number);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return m_number; }

private:
    int m_number;
};

Error systemError(std::string_view doing, const std::string& path, int number) {
    return {ErrorCode::Io, fmt::format("cannot {} {}: {}", doing, path, std::strerror(number))};
}

Status writeAll(int descriptor, std::string_view text, const std::string& path) {
    while (!text.empty()) {
        const auto written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return systemError("write", path, errno);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return Done{};
}

}  // namespace

Result<std::string> readWholeFile(const std::string& path, std::uint64_t limitBytes) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return Error{ErrorCode::NotFound, fmt::format("there is no file {}", path)};
        return systemError("read", path, errno);
    }
    struct stat facts {};
    if (::fstat(file.number(), &facts) == 0 && S_ISDIR(facts.st_mode)) {
        return Error{ErrorCode::BadInput, fmt::format("{} is a directory, not a file", path)};
    }
    std::string text;
    std::array<char, 1U << 16> block;
    for (;;) {
        const auto count = ::read(file.number(), block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return systemError("read", path, errno);
        if (count == 0) return text;
        if (text.size() + static_cast<std::size_t>(count) > limitBytes) {
            return Error{ErrorCode::BadInput, fmt::format("{} is larger than {} bytes", path, limitBytes)};
        }
        text.append(block.data(), static_cast<std::size_t>(count));
    }
}

Status writeWholeFile(const std::string& path, std::string_view text) {
    auto temporary = path + ".XXXXXX";
    const int number = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (number < 0) return systemError("write beside", path, errno);
    Status written = Done{};
    {
        const Descriptor file(number);
        ::fchmod(number, 0644);
        written = writeAll(number, text, path);
        if (written && ::fsync(number) != 0) written = systemError("write", path, errno);
    }
    if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = systemError("write", path, errno);
    if (!written) ::unlink(temporary.c_str());
    return written;
}

Status makeFolder(const std::string& path) {
    std::error_code fault;
    std::filesystem::create_directories(path, fault);
    if (!std::filesystem::is_directory(path)) {
        return Error{ErrorCode::Io, fmt::format("cannot make the folder {}: {}", path,
                                                fault ? fault.message() : "something else has that name")};
    }
    return Done{};
}

std::optional<std::uint64_t> freeDiskBytes(const std::string& folder) {
    struct statvfs facts {};
    if (::statvfs(folder.c_str(), &facts) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
}

Result<std::string> defaultModelsFolder() {
    const auto given = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    if (const auto folder = given("FIRSTTOKEN_MODELS"); !folder.empty()) return folder;
    // The XDG specification: a relative path there is to be ignored.
    if (const auto data = given("XDG_DATA_HOME"); data.starts_with('/')) return data + "/firsttoken/models";
    if (const auto home = given("HOME"); home.starts_with('/')) return home + "/.local/share/firsttoken/models";
    return Error{ErrorCode::NotFound, "there is no folder for models: neither FIRSTTOKEN_MODELS nor HOME is set"};
}

}  // namespace firsttoken::sessions
