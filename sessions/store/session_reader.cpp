#include "sessions/store/session_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "sessions/store/migrations.h"
#include "sessions/store/record_blobs.h"
#include "sessions/store/record_names.h"
#include "sessions/store/search_words.h"
#include "sessions/store/writer_role.h"

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::Status;

namespace {

/// Nothing is reserved on the word of a file alone beyond this many records.
constexpr std::int64_t kMostReserved = 1 << 20;

/// One moment of the database for several statements.
class Snapshot {
public:
    explicit Snapshot(Database& database) : m_database(database) {}
    ~Snapshot() { static_cast<void>(m_database.execute("COMMIT")); }
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;
    Status begin() { return m_database.execute("BEGIN"); }

private:
    Database& m_database;
};

Error notFound(SessionId id) { return {ErrorCode::NotFound, fmt::format("there is no session {}", id)}; }

/// Calls `take` for every row; false from it ends the loop.
template <class Take>
Status forEachRow(Statement& statement, const Take& take) {
    for (;;) {
        const auto row = statement.step();
        if (!row) return row.error();
        if (!*row || !take(Columns(statement))) return Done{};
    }
}

std::string listSql(std::size_t words) {
    std::string sql =
        "SELECT id, kind, state, started_at, ended_at, title, note, starred, model_name, model_path, profile_name, "
        "requests FROM session WHERE 1";
    for (std::size_t i = 1; i <= words; ++i) {
        sql += fmt::format(
            " AND (id IN (SELECT rowid FROM session_search WHERE session_search MATCH ?{0}) OR id IN (SELECT session "
            "FROM request_text WHERE id IN (SELECT rowid FROM chat_search WHERE chat_search MATCH ?{0})))",
            i);
    }
    return sql + " ORDER BY started_at DESC, id DESC";
}

/// Returns false where a name is none of this build's.
bool takeSummary(Columns columns, SessionSummary& s) {
    s.id = columns.integer();
    const auto kind = sessionKindOf(columns.text());
    const auto state = sessionStateOf(columns.text());
    s.startedAt = columns.real();
    s.endedAt = columns.optionalReal();
    s.title = columns.text();
    s.note = columns.text();
    s.starred = columns.boolean();
    s.modelName = columns.text();
    s.modelPath = columns.text();
    s.profileName = columns.text();
    s.requests = columns.integer();
    if (!kind || !state) return false;
    s.kind = *kind;
    s.state = *state;
    return true;
}

constexpr std::string_view kHeaderSql = R"sql(
SELECT kind, state, started_at, ended_at, clock_start_ns, title, note, starred, failure, model_path, model_name,
       profile_name, architecture, model_format, model_bytes, model_hash, requested_profile, effective_profile,
       profile_changes, arithmetic, isa, workload, seed, machine, build, driver
FROM session JOIN recipe ON recipe.session = session.id WHERE session.id = ?)sql";

bool takeHeader(Columns columns, SessionHeader& h) {
    const auto kind = sessionKindOf(columns.text());
    const auto state = sessionStateOf(columns.text());
    h.startedAt = columns.real();
    h.endedAt = columns.optionalReal();
    h.clockStartNs = columns.integer();
    h.title = columns.text();
    h.note = columns.text();
    h.starred = columns.boolean();
    h.failure = columns.text();
    h.modelPath = columns.text();
    h.modelName = columns.text();
    h.profileName = columns.text();
    h.architecture = columns.text();
    h.modelFormat = columns.text();
    h.modelBytes = static_cast<std::uint64_t>(columns.integer());
    h.modelHash = columns.text();
    h.requestedProfile = columns.text();
    h.effectiveProfile = columns.text();
    h.profileChanges = columns.text();
    h.arithmetic = columns.text();
    h.isa = columns.text();
    h.workload = columns.text();
    if (const auto seed = columns.optionalInteger()) h.seed = static_cast<std::uint64_t>(*seed);
    h.machine = columns.text();
    h.build = columns.text();
    h.driver = columns.text();
    if (!kind || !state) return false;
    h.kind = *kind;
    h.state = *state;
    return true;
}

constexpr std::string_view kRequestsSql = R"sql(
SELECT number, planned_ns, sent_ns, scheduled_ns, prefill_end_ns, first_token_ns, end_ns, prompt_tokens, cached_tokens,
       output_tokens, preemptions, reason, detail, tier, routing_reason, prefix_group, hung_up, deltas
FROM request WHERE session = ? ORDER BY number)sql";

bool takeRequest(Columns columns, RequestRecord& r) {
    r.number = columns.integer();
    r.plannedNs = columns.integer();
    r.sentNs = columns.optionalInteger();
    r.scheduledNs = columns.optionalInteger();
    r.prefillEndNs = columns.optionalInteger();
    r.firstTokenNs = columns.optionalInteger();
    r.endNs = columns.optionalInteger();
    r.promptTokens = columns.integer();
    r.cachedTokens = columns.integer();
    r.outputTokens = columns.integer();
    r.preemptions = columns.integer();
    const auto reason = finishReasonOf(columns.text());
    r.detail = columns.text();
    r.tier = columns.text();
    r.routingReason = columns.text();
    r.prefixGroup = columns.integer();
    r.hungUp = columns.boolean();
    auto deltas = unpackTimes(columns.blob());
    if (!reason || !deltas) return false;
    r.reason = *reason;
    r.deltaNs = std::move(*deltas);
    return true;
}

constexpr std::string_view kSamplesSql = R"sql(
SELECT at_ns, queued, prefilling, decoding, blocks_total, blocks_referenced, blocks_cached, prefill_tokens_per_s,
       decode_tokens_per_s, device_use, process_cpu, machine_cpu, resident_bytes, available_bytes, major_faults,
       achieved_gb_per_s, achieved_top_per_s, watts
FROM sample WHERE session = ? ORDER BY at_ns, id)sql";

SampleRecord takeSample(Columns columns) {
    SampleRecord s;
    s.atNs = columns.integer();
    s.queued = columns.optionalInteger();
    s.prefilling = columns.optionalInteger();
    s.decoding = columns.optionalInteger();
    s.blocksTotal = columns.optionalInteger();
    s.blocksReferenced = columns.optionalInteger();
    s.blocksCached = columns.optionalInteger();
    s.prefillTokensPerS = columns.optionalReal();
    s.decodeTokensPerS = columns.optionalReal();
    s.deviceUse = columns.optionalReal();
    s.processCpu = columns.optionalReal();
    s.machineCpu = columns.optionalReal();
    s.residentBytes = columns.optionalInteger();
    s.availableBytes = columns.optionalInteger();
    s.majorFaults = columns.optionalInteger();
    s.achievedGbPerS = columns.optionalReal();
    s.achievedTopPerS = columns.optionalReal();
    s.watts = columns.optionalReal();
    return s;
}

}  // namespace

Result<std::unique_ptr<SessionReader>> SessionReader::open(const std::string& path) {
    auto database = openForReading(path);
    if (!database) return database.error();
    const auto facts = inspectSchema(*database, migrations());
    if (!facts) return facts.error();
    if (auto refusal = refusalOf(*facts, migrations().back().version, path)) return *refusal;
    if (facts->state != SchemaState::Current) {
        return Error{ErrorCode::Io, fmt::format("{} was replaced by something else while it was open", path)};
    }
    return std::unique_ptr<SessionReader>(new SessionReader(std::move(*database)));
}

Error SessionReader::damaged(SessionId id, std::string_view what) const {
    return {ErrorCode::Io, fmt::format("{} is damaged: {} of session {}", m_database.path(), what, id)};
}

Result<std::vector<SessionSummary>> SessionReader::list(const std::string& search) {
    std::vector<SessionSummary> summaries;
    const auto words = searchWords(search);
    // Typed, but nothing that a text could hold.
    if (words.empty() && search.find_first_not_of(" \t\r\n") != std::string::npos) return summaries;
    auto statement = Statement::prepare(m_database, listSql(words.size()));
    if (!statement) return statement.error();
    statement->bindList(words);
    bool known = true;
    const auto read = forEachRow(*statement, [&](Columns columns) {
        known = takeSummary(columns, summaries.emplace_back());
        return known;
    });
    if (!read) return read.error();
    if (!known) return damaged(summaries.back().id, "the kind or state");
    return summaries;
}

Result<SessionHeader> SessionReader::header(SessionId id) { return readHeader(id); }

Result<SessionHeader> SessionReader::readHeader(SessionId id) {
    auto statement = Statement::prepare(m_database, kHeaderSql);
    if (!statement) return statement.error();
    const auto row = statement->bind(id).step();
    if (!row) return row.error();
    if (!*row) return notFound(id);
    SessionHeader header;
    header.id = id;
    if (!takeHeader(Columns(*statement), header)) return damaged(id, "the kind or state");
    return header;
}

Result<SessionData> SessionReader::load(SessionId id) {
    Snapshot snapshot(m_database);
    if (auto begun = snapshot.begin(); !begun) return begun.error();
    auto header = readHeader(id);
    if (!header) return header.error();
    SessionData data;
    data.header = std::move(*header);
    for (const auto read : {&SessionReader::readRequests, &SessionReader::readTexts, &SessionReader::readSpans,
                            &SessionReader::readSamples, &SessionReader::readMarks}) {
        if (auto done = (this->*read)(data); !done) return done.error();
    }
    return data;
}

Status SessionReader::readRequests(SessionData& data) {
    const auto id = data.header.id;
    const auto count = m_database.number(fmt::format("SELECT requests FROM session WHERE id = {}", id));
    if (!count) return count.error();
    auto statement = Statement::prepare(m_database, kRequestsSql);
    if (!statement) return statement.error();
    data.requests.reserve(static_cast<std::size_t>(std::clamp<std::int64_t>(count->value_or(0), 0, kMostReserved)));
    bool known = true;
    auto read = forEachRow(statement->bind(id), [&](Columns columns) {
        known = takeRequest(columns, data.requests.emplace_back());
        return known;
    });
    if (read && !known) return damaged(id, fmt::format("request {}", data.requests.back().number));
    return read;
}

Status SessionReader::readTexts(SessionData& data) {
    auto statement = Statement::prepare(
        m_database, "SELECT number, prompt, output FROM request_text WHERE session = ? ORDER BY number");
    if (!statement) return statement.error();
    // Both lists ascend by number.
    auto request = data.requests.begin();
    return forEachRow(statement->bind(data.header.id), [&](Columns columns) {
        const auto number = columns.integer();
        while (request != data.requests.end() && request->number < number) ++request;
        if (request == data.requests.end()) return false;
        if (request->number == number) {
            request->prompt = columns.text();
            request->output = columns.text();
        }
        return true;
    });
}

Status SessionReader::readSpans(SessionData& data) {
    auto statement = Statement::prepare(m_database, "SELECT spans FROM span_chunk WHERE session = ? ORDER BY id");
    if (!statement) return statement.error();
    bool known = true;
    auto read = forEachRow(statement->bind(data.header.id), [&](Columns columns) {
        known = unpackSpans(columns.blob(), data.spans);
        return known;
    });
    if (read && !known) return damaged(data.header.id, "the spans");
    return read;
}

Status SessionReader::readSamples(SessionData& data) {
    auto statement = Statement::prepare(m_database, kSamplesSql);
    if (!statement) return statement.error();
    return forEachRow(statement->bind(data.header.id), [&](Columns columns) {
        data.samples.push_back(takeSample(columns));
        return true;
    });
}

Status SessionReader::readMarks(SessionData& data) {
    auto statement =
        Statement::prepare(m_database, "SELECT at_ns, kind, text FROM mark WHERE session = ? ORDER BY at_ns, id");
    if (!statement) return statement.error();
    bool known = true;
    auto read = forEachRow(statement->bind(data.header.id), [&](Columns columns) {
        MarkRecord mark;
        mark.atNs = columns.integer();
        const auto kind = markKindOf(columns.text());
        mark.text = columns.text();
        known = kind.has_value();
        if (known) mark.kind = *kind;
        data.marks.push_back(std::move(mark));
        return known;
    });
    if (read && !known) return damaged(data.header.id, "a mark");
    return read;
}

Result<std::optional<std::string>> SessionReader::modelHash(const std::string& path, const FileStamp& stamp) {
    auto statement = Statement::prepare(
        m_database, "SELECT sha256 FROM model_hash WHERE path = ? AND bytes = ? AND modified_ns = ?");
    if (!statement) return statement.error();
    const auto row = statement->bind(path, stamp.bytes, stamp.modifiedNs).step();
    if (!row) return row.error();
    return *row ? std::optional(statement->text(0)) : std::nullopt;
}

}  // namespace firsttoken::sessions
