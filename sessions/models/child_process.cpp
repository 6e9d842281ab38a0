#include "sessions/models/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr std::size_t keptOutput = 64U << 10;
constexpr auto patience = std::chrono::seconds(2);  ///< between SIGINT and SIGKILL
constexpr int stopCheckMs = 50;

/// What posix_spawn needs: stdin from /dev/null, stdout and stderr to `output`, default signals, its own group.
class SpawnSettings {
public:
    explicit SpawnSettings(int output) {
        posix_spawn_file_actions_init(&m_actions);
        posix_spawn_file_actions_addopen(&m_actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&m_actions, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&m_actions, output, STDERR_FILENO);
        posix_spawnattr_init(&m_attributes);
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&m_attributes, &none);
        posix_spawnattr_setsigdefault(&m_attributes, &all);
        posix_spawnattr_setpgroup(&m_attributes, 0);
        posix_spawnattr_setflags(&m_attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    }
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&m_actions);
        posix_spawnattr_destroy(&m_attributes);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    const posix_spawn_file_actions_t* actions() const { return &m_actions; }
    const posix_spawnattr_t* attributes() const { return &m_attributes; }

private:
    posix_spawn_file_actions_t m_actions;
    posix_spawnattr_t m_attributes;
};

void keepTail(std::string& output, const char* bytes, std::size_t count) {
    output.append(bytes, count);
    if (output.size() > keptOutput) output.erase(0, output.size() - keptOutput);
}

/// Reads until every writer has closed the pipe. Sends the signals once a stop is asked.
void drain(int reader, pid_t child, const std::stop_token& stop, std::string& output) {
    std::array<char, 4096> block;
    std::chrono::steady_clock::time_point killAt{};
    bool interrupted = false;
    for (;;) {
        if (stop.stop_requested()) {
            const auto now = std::chrono::steady_clock::now();
            if (!interrupted) {
                ::kill(-child, SIGINT);  // Python programs take their temporary files away
                killAt = now + patience;
                interrupted = true;
            } else if (now >= killAt) {
                ::kill(-child, SIGKILL);
            }
        }
        pollfd wait{reader, POLLIN, 0};
        if (::poll(&wait, 1, stopCheckMs) <= 0) continue;
        const auto count = ::read(reader, block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        keepTail(output, block.data(), static_cast<std::size_t>(count));
    }
}

}  // namespace

Result<ChildResult> runChild(const std::vector<std::string>& arguments, std::stop_token stop) {
    if (stop.stop_requested()) return Error{ErrorCode::Cancelled, "stopped before " + arguments.front() + " began"};
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return Error{ErrorCode::Io, fmt::format("cannot run {}: {}", arguments.front(), std::strerror(errno))};
    }
    auto copies = arguments;
    std::vector<char*> pointers;
    for (auto& argument : copies) pointers.push_back(argument.data());
    pointers.push_back(nullptr);

    pid_t child = 0;
    int fault = 0;
    {
        const SpawnSettings settings(ends[1]);
        fault =
            ::posix_spawnp(&child, pointers[0], settings.actions(), settings.attributes(), pointers.data(), ::environ);
    }
    ::close(ends[1]);
    if (fault != 0) {
        ::close(ends[0]);
        const auto code = fault == ENOENT ? ErrorCode::NotFound : ErrorCode::Io;
        return Error{code, fmt::format("cannot run {}: {}", arguments.front(), std::strerror(fault))};
    }
    ChildResult result;
    drain(ends[0], child, stop, result.output);
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (stop.stop_requested()) return Error{ErrorCode::Cancelled, arguments.front() + " was stopped"};
    result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

}  // namespace firsttoken::sessions
