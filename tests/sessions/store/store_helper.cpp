#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "sessions/session_store.h"
#include "tests/sessions/store/numbered_request.h"
#include "tests/sessions/store/sample_sessions.h"

/// The second process of the store's tests: store_helper MODE DATABASE [NUMBER]. What it says are lines on stdout.
/// Exit 1: the store refused, and the line "error CODE MESSAGE" says why.
namespace firsttoken::tests {
namespace {

using namespace sessions;
using engine::Error;

void say(const std::string& line) {
    const auto whole = line + "\n";
    // One write: a line is whole or absent when the process is killed.
    if (::write(STDOUT_FILENO, whole.data(), whole.size()) < 0) std::exit(3);
}

[[noreturn]] void refuse(const Error& error) {
    say("error " + std::to_string(static_cast<int>(error.code)) + " " + error.message);
    std::exit(1);
}

std::unique_ptr<SessionStore> opened(const std::string& path, std::chrono::milliseconds commitEvery) {
    auto store = SessionStore::open({.path = path, .commitEvery = commitEvery});
    if (!store) refuse(store.error());
    return std::move(*store);
}

std::unique_ptr<SessionWriter> begun(SessionStore& store) {
    auto writer = store.begin(fixtureLoad().header);
    if (!writer) refuse(writer.error());
    return std::move(*writer);
}

/// Writes requests until it is killed. Each line: the number given to the store, and the commits so far.
[[noreturn]] void writeForEver(const std::string& path) {
    constexpr std::int64_t mostUncommitted = 200;
    const auto store = opened(path, std::chrono::milliseconds(10));
    const auto writer = begun(*store);
    say("session " + std::to_string(writer->id()));
    std::int64_t sinceCommit = 0;
    std::uint64_t commits = 0;
    for (std::int64_t number = 1;; ++number) {
        const auto record = numberedRequest(number);
        writer->request(record);
        writer->span({number, engine::Stage::Queue, record.plannedNs, record.plannedNs + 1});
        if (number % 10 == 0) writer->mark({record.plannedNs, MarkKind::Note, "ten more"});
        ++sinceCommit;
        while (sinceCommit >= mostUncommitted && store->statistics().commits == commits) std::this_thread::yield();
        if (const auto now = store->statistics().commits; now != commits) {
            commits = now;
            sinceCommit = 0;
        }
        say(std::to_string(number) + " " + std::to_string(commits));
    }
}

/// Holds a running session until stdin ends.
void hold(const std::string& path) {
    const auto store = opened(path, std::chrono::milliseconds(10));
    const auto writer = begun(*store);
    say("session " + std::to_string(writer->id()));
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
    if (const auto ended = writer->end(SessionState::Completed); !ended) refuse(ended.error());
    say("ended");
}

void limitFileSize(rlim_t bytes) {
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
}

/// As fast as the disk takes them, so that the queue never overflows.
std::int64_t writeUntilRefused(const SessionStore& store, SessionWriter& writer) {
    std::int64_t number = 0;
    while (!writer.error() && number < 200'000) {
        writer.request(numberedRequest(++number));
        const auto commits = store.statistics().commits;
        while (number % 500 == 0 && !writer.error() && store.statistics().commits == commits) std::this_thread::yield();
    }
    return number;
}

/// Files may not grow over `bytes`; then they may again.
void fill(const std::string& path, rlim_t bytes) {
    const auto store = opened(path, std::chrono::milliseconds(10));
    const auto writer = begun(*store);
    limitFileSize(bytes);
    const auto number = writeUntilRefused(*store, *writer);
    if (!writer->error()) return say("never refused");
    say("refused " + writer->error()->message);
    say(store->list().ok() ? "readable" : "not readable");
    limitFileSize(RLIM_INFINITY);
    if (const auto ended = writer->end(SessionState::Completed); !ended) refuse(ended.error());
    say("written " + std::to_string(number) + " dropped " + std::to_string(store->statistics().queueDropped));
}

/// The disk stays full.
void fillAndEnd(const std::string& path) {
    const auto store = opened(path, std::chrono::milliseconds(10));
    const auto writer = begun(*store);
    writeUntilRefused(*store, *writer);
    if (!writer->error()) return say("never refused");
    say("refused " + writer->error()->message);
    if (const auto ended = writer->end(SessionState::Completed); !ended) refuse(ended.error());
}

/// As a user without rights, where this one has too many.
void dropRights() {
    constexpr unsigned nobody = 65534;
    if (::geteuid() != 0) return;
    if (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0) {
        say("rights kept");
        std::exit(2);
    }
}

void readAndWrite(const std::string& path) {
    dropRights();
    const auto store = opened(path, std::chrono::milliseconds(10));
    const auto list = store->list();
    if (!list) refuse(list.error());
    say("listed " + std::to_string(list->size()));
    if (!list->empty()) {
        const auto loaded = store->load(list->front().id);
        if (!loaded) refuse(loaded.error());
        say("loaded " + std::to_string(loaded->requests.size()));
    }
    begun(*store);
    say("written");
}

void makeFixture(const std::string& path) {
    const auto store = opened(path, std::chrono::milliseconds(10));
    for (const auto& data : {fixtureChat(), fixtureLoad()}) {
        if (const auto id = store->insert(data); !id) refuse(id.error());
    }
}

}  // namespace
}  // namespace firsttoken::tests

int main(int argc, char** argv) {
    using namespace firsttoken::tests;
    if (argc < 3) return 2;
    const std::string_view mode = argv[1];
    const std::string path = argv[2];
    if (mode == "write") writeForEver(path);
    if (mode == "hold") hold(path);
    if (mode == "fill" && argc > 3) fill(path, std::strtoull(argv[3], nullptr, 10));
    if (mode == "fill-and-end") fillAndEnd(path);
    if (mode == "read-and-write") readAndWrite(path);
    if (mode == "make-fixture") makeFixture(path);
    return 0;
}
