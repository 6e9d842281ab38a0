#include "sessions/store/writer_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <thread>

#include "sessions/store/storage_error.h"

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr std::chrono::milliseconds kPause{10};

/// 0: not known.
long holderOf(int descriptor) {
    std::array<char, 32> text{};
    const auto count = ::pread(descriptor, text.data(), text.size(), 0);
    long pid = 0;
    if (count > 0) std::from_chars(text.data(), text.data() + count, pid);
    return pid;
}

Error refused(int descriptor, const std::string& path) {
    const long pid = holderOf(descriptor);
    if (pid == ::getpid()) {
        return {ErrorCode::Rejected, fmt::format("this program is writing to {} already", path)};
    }
    const auto who = pid > 0 ? fmt::format("another program (process {})", pid) : std::string("another program");
    return {ErrorCode::Rejected, fmt::format("{} is writing to {}", who, path)};
}

void writeHolder(int descriptor) {
    const auto text = fmt::format("{}\n", ::getpid());
    // Only for the sentence that others show: on a full disk they do without it.
    if (::ftruncate(descriptor, 0) != 0) return;
    [[maybe_unused]] const auto written = ::pwrite(descriptor, text.data(), text.size(), 0);
}

}  // namespace

Result<WriterLock> WriterLock::acquire(const std::string& databasePath, std::chrono::milliseconds patience) {
    const auto path = databasePath + "-lock";
    const auto giveUp = std::chrono::steady_clock::now() + patience;
    WriterLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.held()) return systemError("write", databasePath, errno);
    while (::flock(lock.m_descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) return systemError("lock", path, errno);
        if (std::chrono::steady_clock::now() >= giveUp) return refused(lock.m_descriptor, databasePath);
        std::this_thread::sleep_for(kPause);
    }
    writeHolder(lock.m_descriptor);
    return lock;
}

void WriterLock::release() {
    if (m_descriptor >= 0) ::close(m_descriptor);
    m_descriptor = -1;
}

}  // namespace firsttoken::sessions
