#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/result.h"
#include "sessions/session_records.h"

/// The one database: every session kept. One storage thread owns the only writing connection and is fed by a bounded
/// queue; readers have connections of their own. Any thread may call; a reader and its answers belong to one thread.
namespace firsttoken::sessions {

/// Writes one running session. Values are queued and committed at least once a second; nothing here waits for the
/// disk. What the queue could not take is counted, never silently lost. Any one thread at a time.
class SessionWriter {
public:
    virtual ~SessionWriter() = default;  ///< marks a session that was not ended Interrupted
    virtual SessionId id() const = 0;
    /// Replaces a record with the same number.
    virtual void request(RequestRecord record) = 0;
    virtual void span(SpanRecord record) = 0;
    virtual void sample(SampleRecord record) = 0;
    virtual void mark(MarkRecord record) = 0;
    virtual void setModelHash(std::string sha256) = 0;
    virtual void setTitle(std::string title) = 0;
    /// Commits everything and closes the session. Errors: Io where the disk refused (what is stored stays).
    virtual engine::Status end(SessionState state, std::string failure = {}) = 0;
    /// The first storage error so far, if any (disk full, …).
    virtual std::optional<engine::Error> error() const = 0;
};

/// One line of the history.
struct SessionSummary {
    SessionId id = 0;
    SessionKind kind = SessionKind::Chat;
    SessionState state = SessionState::Running;
    double startedAt = 0;
    std::optional<double> endedAt;
    std::string title;
    std::string note;
    bool starred = false;
    std::string modelName;
    std::string modelPath;
    std::string profileName;
    std::int64_t requests = 0;
    bool operator==(const SessionSummary&) const = default;
};

struct StoreStatistics {
    std::uint64_t queueDropped = 0;        ///< values that a full queue refused: must stay 0
    std::uint64_t queuePeak = 0;
    std::uint64_t commits = 0;
    std::int64_t writerCpuNs = 0;          ///< CPU time of the storage thread
};

class SessionStore {
public:
    struct Options {
        std::string path;                  ///< created where absent, its folder too
        std::size_t queueCapacity = 1U << 16;
        std::chrono::milliseconds commitEvery{500};  ///< at the latest; under a second
    };
    /// Opens, migrates, marks what an earlier crash left Running as Interrupted. Several programs may read one file,
    /// also while one of them writes. The right to write is taken by begin() and by each change, and given back when
    /// no session runs; until then another program's changes are Rejected, with the process that has it. Errors: Io
    /// (read-only where the file must be made or migrated, disk full, damaged: what and where), Unsupported (a newer
    /// schema, another program's database), Rejected (another program writes an older schema), BadInput (no path).
    static engine::Result<std::unique_ptr<SessionStore>> open(const Options& options);
    virtual ~SessionStore() = default;     ///< commits what is queued

    /// The header's id is ignored.
    virtual engine::Result<std::unique_ptr<SessionWriter>> begin(SessionHeader header) = 0;

    /// Newest first. `search`: words that must all be found, each at the beginning of a word of the title, the note, or
    /// a chat's prompts and outputs (FTS5; case and accents do not matter); empty: all.
    virtual engine::Result<std::vector<SessionSummary>> list(const std::string& search = {}) const = 0;
    /// Errors: NotFound.
    virtual engine::Result<SessionHeader> header(SessionId id) const = 0;
    virtual engine::Result<SessionData> load(SessionId id) const = 0;
    virtual engine::Status rename(SessionId id, const std::string& title) = 0;
    virtual engine::Status setNote(SessionId id, const std::string& note) = 0;
    virtual engine::Status setStarred(SessionId id, bool starred) = 0;
    /// Frees the space. Errors: NotFound; Rejected for a session that is running.
    virtual engine::Status remove(SessionId id) = 0;
    /// Stores a complete session (import); returns its new id. Running becomes Interrupted: nobody writes it. Errors:
    /// BadInput for two requests with one number.
    virtual engine::Result<SessionId> insert(const SessionData& session) = 0;

    /// sha256 of a model file, cached by path, size and modification time; computed by the caller where absent.
    virtual std::optional<std::string> cachedModelHash(const std::string& path) const = 0;
    virtual void cacheModelHash(const std::string& path, const std::string& sha256) = 0;

    virtual StoreStatistics statistics() const = 0;
};

/// Default database: $XDG_DATA_HOME/firsttoken/sessions.sqlite.
std::string defaultDatabasePath();

}  // namespace firsttoken::sessions
