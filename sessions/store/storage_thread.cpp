#include "sessions/store/storage_thread.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <map>

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::Status;

namespace {

constexpr std::chrono::seconds kRetryAfter{1};
/// What the queue and the unwritten values may hold: only a disk that refuses for long fills it.
constexpr std::size_t kMostBytes = 256U << 20;

std::size_t bytesOf(const StoredValue& value) {
    std::size_t bytes = sizeof(StoredValue);
    if (const auto* request = std::get_if<RequestRecord>(&value)) {
        bytes += request->deltaNs.size() * sizeof(std::int64_t) + request->prompt.size() + request->output.size() +
                 request->detail.size() + request->routingReason.size();
    } else if (const auto* mark = std::get_if<MarkRecord>(&value)) {
        bytes += mark->text.size();
    }
    return bytes;
}

/// A fault of the one record, which no second try changes; anything else is the disk's.
bool isOfTheRecord(const Error& error) {
    return error.code == ErrorCode::BadInput || error.code == ErrorCode::Internal || error.code == ErrorCode::NotFound;
}

/// A file that may not grow gives an error, instead of this signal that ends the process.
void blockFileSizeSignal() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

std::int64_t threadCpuNs() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

void SessionChannel::setError(const Error& error) {
    const std::lock_guard lock(m_mutex);
    if (!m_error) m_error = error;
}

std::optional<Error> SessionChannel::error() const {
    const std::lock_guard lock(m_mutex);
    return m_error;
}

StorageThread::StorageThread(Options options)
    : m_options(std::move(options)), m_role(m_options.path), m_thread([this] { run(); }) {}

StorageThread::~StorageThread() { stop(); }

void StorageThread::stop() {
    const std::lock_guard once(m_stopMutex);
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    m_wake.notify_one();
    if (m_thread.joinable()) m_thread.join();
}

// --- what callers use ------------------------------------------------------------------------------------------

template <class T>
Result<T> StorageThread::call(const std::function<Result<T>(const Status&)>& job) {
    std::promise<Result<T>> answer;
    auto future = answer.get_future();
    {
        const std::lock_guard lock(m_mutex);
        if (m_stopping) return Error{ErrorCode::Rejected, fmt::format("{} is closed", m_options.path)};
        m_queue.emplace_back(Command([&](const Status& flushed) {
            try {
                answer.set_value(job(flushed));
            } catch (const std::exception& fault) {
                answer.set_value(Error{ErrorCode::Internal, fmt::format("{}: {}", m_options.path, fault.what())});
            }
        }));
        ++m_waitingCommands;
    }
    m_wake.notify_one();
    return future.get();
}

template <class T>
Result<T> StorageThread::withRole(const std::function<Result<T>(SessionTables&)>& job) {
    return call<T>([&](const Status&) -> Result<T> {
        if (auto role = m_role.acquire(); !role) return role.error();
        auto done = job(m_role.tables());
        if (done) m_commits.fetch_add(1);
        return done;
    });
}

Status StorageThread::prepareFile() {
    return call<Done>([&](const Status&) { return m_role.prepareFile(); });
}

Result<std::shared_ptr<SessionChannel>> StorageThread::begin(const SessionHeader& header) {
    return withRole<std::shared_ptr<SessionChannel>>(
        [&](SessionTables& tables) -> Result<std::shared_ptr<SessionChannel>> {
            Transaction transaction(tables.database());
            if (auto begun = transaction.begin(); !begun) return begun.error();
            const auto id = tables.addSession(header);
            if (!id) return id.error();
            if (auto committed = transaction.commit(); !committed) return committed.error();
            m_live.insert(*id);
            return std::make_shared<SessionChannel>(*id, header.kind == SessionKind::Chat);
        });
}

Status StorageThread::change(const std::function<Status(SessionTables&)>& job) {
    return withRole<Done>([&](SessionTables& tables) -> Status {
        Transaction transaction(tables.database());
        if (auto begun = transaction.begin(); !begun) return begun;
        if (auto done = job(tables); !done) return done;
        return transaction.commit();
    });
}

Status StorageThread::remove(SessionId session) {
    return withRole<Done>([&](SessionTables& tables) -> Status {
        if (m_live.contains(session)) {
            return Error{ErrorCode::Rejected, fmt::format("session {} is running", session)};
        }
        Transaction transaction(tables.database());
        if (auto begun = transaction.begin(); !begun) return begun;
        if (auto removed = tables.removeSession(session); !removed) return removed;
        if (auto committed = transaction.commit(); !committed) return committed;
        // It is gone; space that could not be given back now is used by what comes next.
        static_cast<void>(tables.reclaim());
        return Done{};
    });
}

Result<SessionId> StorageThread::insert(const SessionData& session) {
    return withRole<SessionId>([&](SessionTables& tables) -> Result<SessionId> {
        Transaction transaction(tables.database());
        if (auto begun = transaction.begin(); !begun) return begun.error();
        const auto id = tables.insertWhole(session);
        if (!id) return id.error();
        if (auto committed = transaction.commit(); !committed) return committed.error();
        return *id;
    });
}

void StorageThread::post(const std::shared_ptr<SessionChannel>& session, StoredValue value) {
    const auto bytes = bytesOf(value);
    const bool isEnd = std::holds_alternative<SessionEnd>(value);
    bool wake = false;
    {
        const std::lock_guard lock(m_mutex);
        const auto values = m_queuedValues + m_pendingValues;
        const bool full = values >= m_options.queueCapacity || m_queuedBytes + m_pendingBytes + bytes > kMostBytes;
        if (m_stopping || (full && !isEnd)) {
            ++m_dropped;
            session->setError({ErrorCode::Io, m_stopping ? fmt::format("{} is closed", m_options.path)
                                                         : fmt::format("{} takes no more records: the disk does not "
                                                                       "keep up, and some are lost",
                                                                       m_options.path)});
            return;
        }
        m_queue.emplace_back(Value{session, std::move(value), bytes});
        ++m_queuedValues;
        m_queuedBytes += bytes;
        m_peak = std::max<std::uint64_t>(m_peak, values + 1);
        if (!m_dueAt) m_dueAt = Clock::now() + m_options.commitEvery;
        wake = m_queuedValues == 1 || m_queuedValues == m_options.queueCapacity / 4;
    }
    if (wake) m_wake.notify_one();
}

Status StorageThread::flush() {
    return call<Done>([](const Status& flushed) { return flushed; });
}

StoreStatistics StorageThread::statistics() const {
    StoreStatistics statistics;
    statistics.commits = m_commits.load();
    statistics.writerCpuNs = m_cpuNs.load();
    const std::lock_guard lock(m_mutex);
    statistics.queueDropped = m_dropped;
    statistics.queuePeak = m_peak;
    return statistics;
}

// --- on the thread ---------------------------------------------------------------------------------------------

void StorageThread::run() {
    blockFileSizeSignal();
    std::unique_lock lock(m_mutex);
    for (;;) {
        while (!isDue(Clock::now())) {
            if (m_dueAt) {
                m_wake.wait_until(lock, *m_dueAt);
            } else {
                m_wake.wait(lock);
            }
        }
        const bool last = m_stopping;
        std::deque<Entry> entries;
        entries.swap(m_queue);
        m_pendingValues += std::exchange(m_queuedValues, 0);
        m_pendingBytes += std::exchange(m_queuedBytes, 0);
        m_waitingCommands = 0;
        lock.unlock();
        work(std::move(entries));
        if (last) dropPending();
        if (last || (m_live.empty() && m_pending.empty())) m_role.release();
        m_cpuNs.store(threadCpuNs());
        lock.lock();
        m_pendingValues = m_pending.size();
        m_pendingBytes = 0;
        for (const auto& value : m_pending) m_pendingBytes += value.bytes;
        if (m_refused) {
            m_dueAt = Clock::now() + kRetryAfter;
        } else {
            m_dueAt = m_queuedValues == 0 ? std::nullopt : std::optional(Clock::now() + m_options.commitEvery);
        }
        if (last) return;
    }
}

bool StorageThread::isDue(Clock::time_point now) const {
    if (m_stopping || m_waitingCommands > 0) return true;
    if (!m_refused && m_queuedValues > 0 && m_queuedValues >= m_options.queueCapacity / 4) return true;
    return m_dueAt && now >= *m_dueAt;
}

void StorageThread::work(std::deque<Entry> entries) {
    for (auto& entry : entries) {
        if (auto* value = std::get_if<Value>(&entry)) {
            m_pending.push_back(std::move(*value));
        } else {
            std::get<Command>(entry)(flushPending());
        }
    }
    static_cast<void>(flushPending());  // its error is noted with the sessions
}

Status StorageThread::flushPending() {
    if (m_pending.empty()) return Done{};
    auto written = writePending();
    m_refused = !written;
    if (!written) {
        for (const auto& value : m_pending) value.session->setError(written.error());
        return written;
    }
    for (const auto& value : m_pending) {
        if (std::holds_alternative<SessionEnd>(value.what)) m_live.erase(value.session->id());
    }
    m_pending.clear();
    m_commits.fetch_add(1);
    return written;
}

Status StorageThread::writePending() {
    try {
        if (auto role = m_role.acquire(); !role) return role;
        auto written = writeAll(m_role.tables());
        // The log may be what is too large: emptied into the database, it is used again from its start.
        if (!written && written.error().code == ErrorCode::Io && m_role.tables().shortenLog()) {
            written = writeAll(m_role.tables());
        }
        return written;
    } catch (const std::exception& fault) {
        return Error{ErrorCode::Io, fmt::format("cannot write {}: {}", m_options.path, fault.what())};
    }
}

Status StorageThread::writeAll(SessionTables& tables) {
    Transaction transaction(tables.database());
    if (auto begun = transaction.begin(); !begun) return begun;
    std::map<SessionId, std::vector<SpanRecord>> spans;
    std::set<SessionId> counted;
    for (const auto& value : m_pending) {
        const auto id = value.session->id();
        if (const auto* span = std::get_if<SpanRecord>(&value.what)) {
            spans[id].push_back(*span);
            continue;
        }
        if (std::holds_alternative<RequestRecord>(value.what)) counted.insert(id);
        if (const auto done = writeValue(value); !done) {
            if (!isOfTheRecord(done.error())) return done;
            value.session->setError(done.error());
        }
    }
    for (const auto& [id, list] : spans) {
        if (auto done = tables.addSpans(id, list); !done && !isOfTheRecord(done.error())) return done;
    }
    for (const auto id : counted) {
        if (auto done = tables.countRequests(id); !done) return done;
    }
    return transaction.commit();
}

Status StorageThread::writeValue(const Value& value) {
    auto& tables = m_role.tables();
    const auto id = value.session->id();
    if (const auto* request = std::get_if<RequestRecord>(&value.what)) {
        return tables.putRequest(id, value.session->searchable(), *request);
    }
    if (const auto* sample = std::get_if<SampleRecord>(&value.what)) return tables.addSample(id, *sample);
    if (const auto* mark = std::get_if<MarkRecord>(&value.what)) return tables.addMark(id, *mark);
    if (const auto* title = std::get_if<TitleChange>(&value.what)) return tables.setTitle(id, title->title);
    if (const auto* hash = std::get_if<HashChange>(&value.what)) return tables.setModelHash(id, hash->sha256);
    if (const auto* end = std::get_if<SessionEnd>(&value.what)) {
        return tables.endSession(id, end->state, end->failure, end->endedAt);
    }
    return Done{};
}

void StorageThread::dropPending() {
    if (m_pending.empty()) return;
    const std::lock_guard lock(m_mutex);
    m_dropped += m_pending.size();
    m_pending.clear();
}

}  // namespace firsttoken::sessions
