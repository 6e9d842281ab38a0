#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>

#include "engine/result.h"
#include "sessions/session_store.h"
#include "sessions/store/session_tables.h"
#include "sessions/store/writer_role.h"

namespace firsttoken::sessions {

/// One running session as its writer and the storage thread see it.
class SessionChannel {
public:
    SessionChannel(SessionId id, bool searchable) : m_id(id), m_searchable(searchable) {}
    SessionId id() const { return m_id; }
    bool searchable() const { return m_searchable; }

    /// Keeps the first.
    void setError(const engine::Error& error);
    std::optional<engine::Error> error() const;

private:
    const SessionId m_id;
    const bool m_searchable;
    mutable std::mutex m_mutex;
    std::optional<engine::Error> m_error;
};

struct TitleChange {
    std::string title;
};
struct HashChange {
    std::string sha256;
};
struct SessionEnd {
    SessionState state = SessionState::Completed;
    std::string failure;
    std::optional<double> endedAt;
};
using StoredValue =
    std::variant<RequestRecord, SpanRecord, SampleRecord, MarkRecord, TitleChange, HashChange, SessionEnd>;

/// Writes what it is given, in order: values in the background, each committed within `commitEvery` of its arrival;
/// commands at once, with an answer. A commit that the disk refuses is tried again every second with nothing
/// forgotten, until the queue is full. Any thread may call; the role, its connection and m_pending belong to the
/// thread itself.
class StorageThread {
public:
    struct Options {
        std::string path;  ///< absolute
        std::size_t queueCapacity = 0;
        std::chrono::milliseconds commitEvery{0};
    };
    explicit StorageThread(Options options);
    /// Commits what is queued. Values that a disk still refuses then are lost, and their session is Interrupted.
    ~StorageThread();
    StorageThread(const StorageThread&) = delete;
    StorageThread& operator=(const StorageThread&) = delete;
    /// The same as the destructor's work; later values are refused and counted.
    void stop();

    engine::Status prepareFile();
    engine::Result<std::shared_ptr<SessionChannel>> begin(const SessionHeader& header);
    engine::Result<SessionId> insert(const SessionData& session);
    engine::Status remove(SessionId session);
    /// One change in a transaction of its own.
    engine::Status change(const std::function<engine::Status(SessionTables&)>& job);

    /// Never waits for the disk. An end is always taken; another value is refused, counted and noted as the session's
    /// error where the queue is full.
    void post(const std::shared_ptr<SessionChannel>& session, StoredValue value);
    /// Waits until everything posted before is committed, or was refused by the disk.
    engine::Status flush();

    StoreStatistics statistics() const;

private:
    struct Value {
        std::shared_ptr<SessionChannel> session;
        StoredValue what;
        std::size_t bytes = 0;
    };
    /// Runs on the thread, after the values before it; is told whether those are committed.
    using Command = std::function<void(const engine::Status& flushed)>;
    using Entry = std::variant<Value, Command>;
    using Clock = std::chrono::steady_clock;

    template <class T>
    engine::Result<T> call(const std::function<engine::Result<T>(const engine::Status& flushed)>& job);
    template <class T>
    engine::Result<T> withRole(const std::function<engine::Result<T>(SessionTables&)>& job);

    // On the thread.
    void run();
    bool isDue(Clock::time_point now) const;
    void work(std::deque<Entry> entries);
    engine::Status flushPending();
    engine::Status writePending();
    engine::Status writeValue(const Value& value);
    engine::Status writeAll(SessionTables& tables);
    void dropPending();

    const Options m_options;
    WriterRole m_role;
    std::deque<Value> m_pending;  ///< taken from the queue, not committed yet
    std::set<SessionId> m_live;   ///< begun here and not ended
    bool m_refused = false;       ///< the last commit failed

    mutable std::mutex m_mutex;  ///< guards the rest, but for the atomics
    std::condition_variable m_wake;
    std::deque<Entry> m_queue;
    std::size_t m_queuedValues = 0;
    std::size_t m_queuedBytes = 0;
    std::size_t m_pendingValues = 0;  ///< with those that are being written
    std::size_t m_pendingBytes = 0;
    std::size_t m_waitingCommands = 0;
    std::optional<Clock::time_point> m_dueAt;
    bool m_stopping = false;
    std::uint64_t m_dropped = 0;
    std::uint64_t m_peak = 0;
    std::atomic<std::uint64_t> m_commits{0};
    std::atomic<std::int64_t> m_cpuNs{0};
    std::mutex m_stopMutex;  ///< one stop() at a time
    std::thread m_thread;    // last: it uses everything above
};

}  // namespace firsttoken::sessions
