#include "engine/model/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace firsttoken::engine {

namespace {

Error failure(const std::string& path, int number) {
    return {ErrorCode::Io, fmt::format("{}: cannot be written: {}", path, std::generic_category().message(number))};
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
    struct stat facts {};
    // A rename would replace a device or a pipe by a file.
    if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
        return Error{ErrorCode::BadInput, fmt::format("{}: is not a regular file", path)};
    }
    for (int attempt = 0; attempt < 100; ++attempt) {
        std::string temporary = fmt::format("{}.part-{}-{}", path, ::getpid(), attempt);
        const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0) return OutputFile(path, std::move(temporary), descriptor);
        if (errno != EEXIST) return failure(path, errno);
    }
    return failure(path, EEXIST);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_temporary(std::move(other.m_temporary)),
      m_descriptor(std::exchange(other.m_descriptor, -1)) {}

OutputFile::~OutputFile() {
    if (m_descriptor < 0) return;
    ::close(m_descriptor);
    ::unlink(m_temporary.c_str());
}

Error OutputFile::writeError(int number) const { return failure(m_path, number); }

Status OutputFile::writeAt(std::uint64_t offset, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(m_descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return writeError(written == 0 ? ENOSPC : errno);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        offset += static_cast<std::uint64_t>(written);
    }
    return Done{};
}

Status OutputFile::reserve(std::uint64_t bytes) const {
    const int number = ::posix_fallocate(m_descriptor, 0, static_cast<off_t>(bytes));
    if (number == 0) return Done{};
    // Some file systems cannot reserve; the size can still be set.
    if (number != EOPNOTSUPP && number != EINVAL) return writeError(number);
    if (::ftruncate(m_descriptor, static_cast<off_t>(bytes)) != 0) return writeError(errno);
    return Done{};
}

Status OutputFile::commit() {
    if (::fsync(m_descriptor) != 0) return writeError(errno);
    if (::rename(m_temporary.c_str(), m_path.c_str()) != 0) return writeError(errno);
    ::close(std::exchange(m_descriptor, -1));
    return Done{};
}

}  // namespace firsttoken::engine
