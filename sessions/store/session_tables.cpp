#include "sessions/store/session_tables.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sessions/store/record_blobs.h"

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::Status;

namespace {

/// Spans of one blob: bounds what a reader must hold beside the result.
constexpr std::size_t kSpansPerChunk = 1U << 16;

constexpr std::string_view kAddSession = R"sql(
INSERT INTO session(kind, state, started_at, ended_at, title, note, starred, model_name, model_path, profile_name,
                    failure, clock_start_ns)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

constexpr std::string_view kAddRecipe = R"sql(
INSERT INTO recipe(session, architecture, model_format, model_bytes, model_hash, requested_profile, effective_profile,
                   profile_changes, arithmetic, isa, workload, seed, machine, build, driver)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

constexpr std::string_view kPutRequest = R"sql(
INSERT INTO request(session, number, planned_ns, sent_ns, scheduled_ns, prefill_end_ns, first_token_ns, end_ns,
                    prompt_tokens, cached_tokens, output_tokens, preemptions, reason, detail, tier, routing_reason,
                    prefix_group, hung_up, deltas)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (session, number) DO UPDATE SET
    planned_ns = excluded.planned_ns, sent_ns = excluded.sent_ns, scheduled_ns = excluded.scheduled_ns,
    prefill_end_ns = excluded.prefill_end_ns, first_token_ns = excluded.first_token_ns, end_ns = excluded.end_ns,
    prompt_tokens = excluded.prompt_tokens, cached_tokens = excluded.cached_tokens,
    output_tokens = excluded.output_tokens, preemptions = excluded.preemptions, reason = excluded.reason,
    detail = excluded.detail, tier = excluded.tier, routing_reason = excluded.routing_reason,
    prefix_group = excluded.prefix_group, hung_up = excluded.hung_up, deltas = excluded.deltas)sql";

constexpr std::string_view kPutText = R"sql(
INSERT INTO request_text(session, number, searchable, prompt, output) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (session, number) DO UPDATE SET prompt = excluded.prompt, output = excluded.output)sql";

constexpr std::string_view kAddSample = R"sql(
INSERT INTO sample(session, at_ns, queued, prefilling, decoding, blocks_total, blocks_referenced, blocks_cached,
                   prefill_tokens_per_s, decode_tokens_per_s, device_use, process_cpu, machine_cpu, resident_bytes,
                   available_bytes, major_faults, achieved_gb_per_s, achieved_top_per_s, watts)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

constexpr std::string_view kCountRequests =
    "UPDATE session SET requests = (SELECT count(*) FROM request WHERE session = ?1) WHERE id = ?1";

double finite(double value) { return std::isfinite(value) ? value : 0.0; }

Error noSuchSession(SessionId id) { return {ErrorCode::NotFound, fmt::format("there is no session {}", id)}; }

}  // namespace

std::optional<FileStamp> fileStamp(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
    return FileStamp{facts.st_size, facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

struct SessionTables::Statements {
    Statement addSession, addRecipe, putRequest, putText, removeText, addSpans, addSample, addMark, countRequests;
    Statement setTitle, setNote, setStarred, setModelHash, endSession, removeSession, putModelHash;
};

SessionTables::SessionTables(Database& database, std::unique_ptr<Statements> statements)
    : m_database(database), m_statements(std::move(statements)) {}
SessionTables::~SessionTables() = default;

Result<std::unique_ptr<SessionTables>> SessionTables::prepare(Database& database) {
    std::optional<Error> fault;
    const auto make = [&](std::string_view sql) -> std::optional<Statement> {
        auto statement = Statement::prepare(database, sql);
        if (statement) return std::move(*statement);
        if (!fault) fault = statement.error();
        return std::nullopt;
    };
    std::optional<Statement> made[] = {
        make(kAddSession),
        make(kAddRecipe),
        make(kPutRequest),
        make(kPutText),
        make("DELETE FROM request_text WHERE session = ? AND number = ?"),
        make("INSERT INTO span_chunk(session, spans) VALUES (?, ?)"),
        make(kAddSample),
        make("INSERT INTO mark(session, at_ns, kind, text) VALUES (?, ?, ?, ?)"),
        make(kCountRequests),
        make("UPDATE session SET title = ? WHERE id = ?"),
        make("UPDATE session SET note = ? WHERE id = ?"),
        make("UPDATE session SET starred = ? WHERE id = ?"),
        make("UPDATE recipe SET model_hash = ? WHERE session = ?"),
        make("UPDATE session SET state = ?, failure = ?, ended_at = ? WHERE id = ?"),
        make("DELETE FROM session WHERE id = ?"),
        make("INSERT OR REPLACE INTO model_hash(path, bytes, modified_ns, sha256) VALUES (?, ?, ?, ?)"),
    };
    if (fault) return *fault;
    const auto take = [&](std::size_t index) { return std::move(*made[index]); };
    auto statements = std::unique_ptr<Statements>(new Statements{take(0), take(1), take(2), take(3), take(4), take(5),
                                                                 take(6), take(7), take(8), take(9), take(10), take(11),
                                                                 take(12), take(13), take(14), take(15)});
    return std::unique_ptr<SessionTables>(new SessionTables(database, std::move(statements)));
}

Result<SessionId> SessionTables::addSession(const SessionHeader& header) {
    const auto& h = header;
    auto added = m_statements->addSession
                     .bind(toString(h.kind), toString(h.state), finite(h.startedAt), h.endedAt, h.title, h.note,
                           h.starred, h.modelName, h.modelPath, h.profileName, h.failure, h.clockStartNs)
                     .run();
    if (!added) return added.error();
    const SessionId id = sqlite3_last_insert_rowid(m_database.handle());
    added =
        m_statements->addRecipe
            .bind(id, h.architecture, h.modelFormat, h.modelBytes, h.modelHash, h.requestedProfile, h.effectiveProfile,
                  h.profileChanges, h.arithmetic, h.isa, h.workload, h.seed, h.machine, h.build, h.driver)
            .run();
    if (!added) return added.error();
    return id;
}

Status SessionTables::putRequest(SessionId session, bool searchable, const RequestRecord& record) {
    const auto& r = record;
    const auto deltas = packTimes(r.deltaNs);
    auto put =
        m_statements->putRequest
            .bind(session, r.number, r.plannedNs, r.sentNs, r.scheduledNs, r.prefillEndNs, r.firstTokenNs, r.endNs,
                  r.promptTokens, r.cachedTokens, r.outputTokens, r.preemptions, engine::toString(r.reason), r.detail,
                  r.tier, r.routingReason, r.prefixGroup, r.hungUp, Statement::asBlob(deltas))
            .run();
    if (!put) return put;
    if (r.prompt.empty() && r.output.empty()) return m_statements->removeText.bind(session, r.number).run();
    return m_statements->putText.bind(session, r.number, searchable, r.prompt, r.output).run();
}

Status SessionTables::addSpans(SessionId session, const std::vector<SpanRecord>& spans) {
    for (std::size_t from = 0; from < spans.size(); from += kSpansPerChunk) {
        const auto to = std::min(spans.size(), from + kSpansPerChunk);
        const auto begin = spans.begin();
        const auto bytes =
            packSpans({begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to)});
        if (auto added = m_statements->addSpans.bind(session, Statement::asBlob(bytes)).run(); !added) return added;
    }
    return Done{};
}

Status SessionTables::addSample(SessionId session, const SampleRecord& record) {
    const auto& s = record;
    return m_statements->addSample
        .bind(session, s.atNs, s.queued, s.prefilling, s.decoding, s.blocksTotal, s.blocksReferenced, s.blocksCached,
              s.prefillTokensPerS, s.decodeTokensPerS, s.deviceUse, s.processCpu, s.machineCpu, s.residentBytes,
              s.availableBytes, s.majorFaults, s.achievedGbPerS, s.achievedTopPerS, s.watts)
        .run();
}

Status SessionTables::addMark(SessionId session, const MarkRecord& record) {
    return m_statements->addMark.bind(session, record.atNs, toString(record.kind), record.text).run();
}

Status SessionTables::countRequests(SessionId session) { return m_statements->countRequests.bind(session).run(); }

Result<SessionId> SessionTables::insertWhole(const SessionData& session) {
    std::set<std::int64_t> numbers;
    for (const auto& request : session.requests) {
        if (numbers.insert(request.number).second) continue;
        return Error{ErrorCode::BadInput, fmt::format("the session has two requests with number {}", request.number)};
    }
    auto header = session.header;
    if (header.state == SessionState::Running) header.state = SessionState::Interrupted;
    const auto id = addSession(header);
    if (!id) return id;
    const bool searchable = header.kind == SessionKind::Chat;
    for (const auto& request : session.requests) {
        if (auto done = putRequest(*id, searchable, request); !done) return done.error();
    }
    for (const auto& sample : session.samples) {
        if (auto done = addSample(*id, sample); !done) return done.error();
    }
    for (const auto& mark : session.marks) {
        if (auto done = addMark(*id, mark); !done) return done.error();
    }
    if (auto done = addSpans(*id, session.spans); !done) return done.error();
    if (auto done = countRequests(*id); !done) return done.error();
    return id;
}

template <class... Values>
Status SessionTables::changeOne(SessionId session, Statement& statement, const Values&... values) {
    if (auto done = statement.bind(values..., session).run(); !done) return done;
    if (m_database.changes() == 0) return noSuchSession(session);
    return Done{};
}

Status SessionTables::setTitle(SessionId session, const std::string& title) {
    return changeOne(session, m_statements->setTitle, title);
}
Status SessionTables::setNote(SessionId session, const std::string& note) {
    return changeOne(session, m_statements->setNote, note);
}
Status SessionTables::setStarred(SessionId session, bool starred) {
    return changeOne(session, m_statements->setStarred, starred);
}
Status SessionTables::setModelHash(SessionId session, const std::string& sha256) {
    return changeOne(session, m_statements->setModelHash, sha256);
}
Status SessionTables::endSession(SessionId session, SessionState state, const std::string& failure,
                                 std::optional<double> endedAt) {
    return changeOne(session, m_statements->endSession, toString(state), failure, endedAt);
}
Status SessionTables::removeSession(SessionId session) { return changeOne(session, m_statements->removeSession); }

Status SessionTables::interruptRunning() {
    return m_database.execute("UPDATE session SET state = 'interrupted' WHERE state = 'running'");
}

Status SessionTables::putModelHash(const std::string& path, const FileStamp& stamp, const std::string& sha256) {
    return m_statements->putModelHash.bind(path, stamp.bytes, stamp.modifiedNs, sha256).run();
}

Status SessionTables::reclaim() {
    auto done = m_database.execute(
        "INSERT INTO chat_search(chat_search) VALUES ('optimize');"
        "INSERT INTO session_search(session_search) VALUES ('optimize');"
        "PRAGMA incremental_vacuum;");
    if (!done) return done;
    // Readers with an older view keep the log; it is then emptied by a later checkpoint. Not worth a wait.
    sqlite3_busy_timeout(m_database.handle(), 0);
    sqlite3_wal_checkpoint_v2(m_database.handle(), "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    sqlite3_busy_timeout(m_database.handle(), kBusyTimeoutMs);
    return Done{};
}

bool SessionTables::shortenLog() {
    return sqlite3_wal_checkpoint_v2(m_database.handle(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr) ==
           SQLITE_OK;
}

}  // namespace firsttoken::sessions
