#include "sessions/session_store.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "sessions/store/session_reader.h"
#include "sessions/store/storage_thread.h"

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::Status;

namespace {

double unixNow() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

class QueuedWriter final : public SessionWriter {
public:
    QueuedWriter(std::shared_ptr<StorageThread> thread, std::shared_ptr<SessionChannel> session)
        : m_thread(std::move(thread)), m_session(std::move(session)) {}
    ~QueuedWriter() override {
        // Nobody writes it any more; also where the whole program goes on.
        if (!m_ended) m_thread->post(m_session, SessionEnd{SessionState::Interrupted, {}, std::nullopt});
    }

    SessionId id() const override { return m_session->id(); }
    void request(RequestRecord record) override { post(std::move(record)); }
    void span(SpanRecord record) override { post(record); }
    void sample(SampleRecord record) override { post(record); }
    void mark(MarkRecord record) override { post(std::move(record)); }
    void setModelHash(std::string sha256) override { post(HashChange{std::move(sha256)}); }
    void setTitle(std::string title) override { post(TitleChange{std::move(title)}); }

    Status end(SessionState state, std::string failure) override {
        if (m_ended) return Error{ErrorCode::Rejected, fmt::format("session {} has ended already", id())};
        m_ended = true;
        m_thread->post(m_session, SessionEnd{state, std::move(failure), unixNow()});
        return m_thread->flush();
    }
    std::optional<Error> error() const override { return m_session->error(); }

private:
    void post(StoredValue value) {
        if (m_ended) {
            m_session->setError({ErrorCode::Rejected, fmt::format("session {} has ended already", id())});
            return;
        }
        m_thread->post(m_session, std::move(value));
    }

    const std::shared_ptr<StorageThread> m_thread;
    const std::shared_ptr<SessionChannel> m_session;
    bool m_ended = false;
};

class SqliteStore final : public SessionStore {
public:
    SqliteStore(std::string path, std::shared_ptr<StorageThread> thread)
        : m_path(std::move(path)), m_thread(std::move(thread)) {}
    ~SqliteStore() override {
        // Readers first: the last connection to close empties the log, and a reader cannot.
        m_readers.clear();
        m_thread->stop();
    }

    Result<std::unique_ptr<SessionWriter>> begin(SessionHeader header) override {
        header.state = SessionState::Running;
        header.endedAt.reset();
        auto session = m_thread->begin(header);
        if (!session) return session.error();
        return std::unique_ptr<SessionWriter>(std::make_unique<QueuedWriter>(m_thread, std::move(*session)));
    }

    Result<std::vector<SessionSummary>> list(const std::string& search) const override {
        return read<std::vector<SessionSummary>>([&](SessionReader& reader) { return reader.list(search); });
    }
    Result<SessionHeader> header(SessionId id) const override {
        return read<SessionHeader>([&](SessionReader& reader) { return reader.header(id); });
    }
    Result<SessionData> load(SessionId id) const override {
        return read<SessionData>([&](SessionReader& reader) { return reader.load(id); });
    }

    Status rename(SessionId id, const std::string& title) override {
        return m_thread->change([&](SessionTables& tables) { return tables.setTitle(id, title); });
    }
    Status setNote(SessionId id, const std::string& note) override {
        return m_thread->change([&](SessionTables& tables) { return tables.setNote(id, note); });
    }
    Status setStarred(SessionId id, bool starred) override {
        return m_thread->change([&](SessionTables& tables) { return tables.setStarred(id, starred); });
    }
    Status remove(SessionId id) override { return m_thread->remove(id); }
    Result<SessionId> insert(const SessionData& session) override { return m_thread->insert(session); }

    std::optional<std::string> cachedModelHash(const std::string& path) const override {
        const auto stamp = fileStamp(path);
        if (!stamp) return std::nullopt;
        auto hash = read<std::optional<std::string>>(
            [&](SessionReader& reader) { return reader.modelHash(absolute(path), *stamp); });
        return hash ? std::move(*hash) : std::nullopt;
    }
    void cacheModelHash(const std::string& path, const std::string& sha256) override {
        const auto stamp = fileStamp(path);
        if (!stamp) return;
        // A cache: where it cannot be written, the hash is computed again.
        static_cast<void>(m_thread->change(
            [&](SessionTables& tables) { return tables.putModelHash(absolute(path), *stamp, sha256); }));
    }

    StoreStatistics statistics() const override { return m_thread->statistics(); }

    static std::string absolute(const std::string& path) {
        std::error_code fault;
        const auto whole = std::filesystem::absolute(path, fault).lexically_normal();
        return fault ? path : whole.string();
    }

private:
    template <class T, class Job>
    Result<T> read(const Job& job) const {
        try {
            auto reader = takeReader();
            if (!reader) return reader.error();
            Result<T> result = job(**reader);
            giveBack(std::move(*reader));
            return result;
        } catch (const std::exception& fault) {
            return Error{ErrorCode::Io, fmt::format("cannot read {}: {}", m_path, fault.what())};
        }
    }
    Result<std::unique_ptr<SessionReader>> takeReader() const {
        {
            const std::lock_guard lock(m_mutex);
            while (!m_readers.empty()) {
                auto reader = std::move(m_readers.back());
                m_readers.pop_back();
                if (reader->usable()) return reader;
            }
        }
        return SessionReader::open(m_path);
    }
    void giveBack(std::unique_ptr<SessionReader> reader) const {
        constexpr std::size_t mostIdle = 4;
        const std::lock_guard lock(m_mutex);
        if (m_readers.size() < mostIdle) m_readers.push_back(std::move(reader));
    }

    const std::string m_path;
    const std::shared_ptr<StorageThread> m_thread;
    mutable std::mutex m_mutex;
    mutable std::vector<std::unique_ptr<SessionReader>> m_readers;  ///< idle; guarded by m_mutex
};

}  // namespace

Result<std::unique_ptr<SessionStore>> SessionStore::open(const Options& options) {
    if (options.path.empty()) return Error{ErrorCode::BadInput, "the database has no path"};
    try {
        const auto path = SqliteStore::absolute(options.path);
        auto thread = std::make_shared<StorageThread>(
            StorageThread::Options{path, std::max<std::size_t>(options.queueCapacity, 1), options.commitEvery});
        if (auto prepared = thread->prepareFile(); !prepared) return prepared.error();
        return std::unique_ptr<SessionStore>(std::make_unique<SqliteStore>(path, std::move(thread)));
    } catch (const std::exception& fault) {
        return Error{ErrorCode::Io, fmt::format("cannot open {}: {}", options.path, fault.what())};
    }
}

std::string defaultDatabasePath() {
    const auto given = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    const std::string file = "/firsttoken/sessions.sqlite";
    // The XDG specification: a relative path there is to be ignored.
    if (const auto data = given("XDG_DATA_HOME"); data.starts_with('/')) return data + file;
    if (const auto home = given("HOME"); home.starts_with('/')) return home + "/.local/share" + file;
    return "sessions.sqlite";
}

}  // namespace firsttoken::sessions
