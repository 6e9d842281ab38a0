#include <array>

#include "sessions/store/migrations.h"

namespace firsttoken::sessions {

namespace {

// Times are nanoseconds on the session's axis. 64-bit unsigned values are stored as the signed ones of the same bits.
// Enumerations are their names (sessions/store/record_names.h). NULL: unknown, or did not happen.
constexpr std::string_view kFirstSchema = R"sql(
-- What lists show; what is large and only read with the whole session lies in recipe.
CREATE TABLE session (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- an id is never used again
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    started_at REAL NOT NULL,              -- Unix seconds
    ended_at REAL,
    requests INTEGER NOT NULL DEFAULT 0,   -- rows in request
    title TEXT NOT NULL,
    note TEXT NOT NULL,
    starred INTEGER NOT NULL,
    model_name TEXT NOT NULL,
    model_path TEXT NOT NULL,
    profile_name TEXT NOT NULL,
    failure TEXT NOT NULL,
    clock_start_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX session_running ON session(state) WHERE state = 'running';

CREATE TABLE recipe (
    session INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE,
    architecture TEXT NOT NULL,
    model_format TEXT NOT NULL,
    model_bytes INTEGER NOT NULL,
    model_hash TEXT NOT NULL,              -- sha256, hexadecimal; empty: unknown
    requested_profile TEXT NOT NULL,       -- JSON
    effective_profile TEXT NOT NULL,       -- JSON
    profile_changes TEXT NOT NULL,         -- JSON
    arithmetic TEXT NOT NULL,
    isa TEXT NOT NULL,
    workload TEXT NOT NULL,                -- JSON
    seed INTEGER,
    machine TEXT NOT NULL,                 -- JSON
    build TEXT NOT NULL,
    driver TEXT NOT NULL
) STRICT;

CREATE TABLE request (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    planned_ns INTEGER NOT NULL,
    sent_ns INTEGER,
    scheduled_ns INTEGER,
    prefill_end_ns INTEGER,
    first_token_ns INTEGER,
    end_ns INTEGER,
    prompt_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    preemptions INTEGER NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    tier TEXT NOT NULL,
    routing_reason TEXT NOT NULL,
    prefix_group INTEGER NOT NULL,
    hung_up INTEGER NOT NULL,
    deltas BLOB NOT NULL,                  -- packTimes()
    UNIQUE (session, number)
) STRICT;

-- Apart from request, so that reading the times of many requests does not read their texts.
CREATE TABLE request_text (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    searchable INTEGER NOT NULL,           -- 1 in chats: the made-up texts of a load are not for searching
    prompt TEXT NOT NULL,
    output TEXT NOT NULL,
    UNIQUE (session, number)
) STRICT;

-- The spans of one commit together.
CREATE TABLE span_chunk (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    spans BLOB NOT NULL                    -- packSpans()
) STRICT;
CREATE INDEX span_chunk_session ON span_chunk(session);

CREATE TABLE sample (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    at_ns INTEGER NOT NULL,
    queued INTEGER,
    prefilling INTEGER,
    decoding INTEGER,
    blocks_total INTEGER,
    blocks_referenced INTEGER,
    blocks_cached INTEGER,
    prefill_tokens_per_s REAL,
    decode_tokens_per_s REAL,
    device_use REAL,
    process_cpu REAL,
    machine_cpu REAL,
    resident_bytes INTEGER,
    available_bytes INTEGER,
    major_faults INTEGER,
    achieved_gb_per_s REAL,
    achieved_top_per_s REAL,
    watts REAL
) STRICT;
CREATE INDEX sample_time ON sample(session, at_ns);

CREATE TABLE mark (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    at_ns INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX mark_time ON mark(session, at_ns);

-- A file is the same as long as its size and time of change are.
CREATE TABLE model_hash (
    path TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE session_search USING fts5(
    title, note, content = 'session', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2');
CREATE TRIGGER session_search_insert AFTER INSERT ON session BEGIN
    INSERT INTO session_search(rowid, title, note) VALUES (new.id, new.title, new.note);
END;
CREATE TRIGGER session_search_delete AFTER DELETE ON session BEGIN
    INSERT INTO session_search(session_search, rowid, title, note) VALUES ('delete', old.id, old.title, old.note);
END;
CREATE TRIGGER session_search_update AFTER UPDATE OF title, note ON session BEGIN
    INSERT INTO session_search(session_search, rowid, title, note) VALUES ('delete', old.id, old.title, old.note);
    INSERT INTO session_search(rowid, title, note) VALUES (new.id, new.title, new.note);
END;

CREATE VIEW chat_text AS SELECT id, prompt, output FROM request_text WHERE searchable = 1;
CREATE VIRTUAL TABLE chat_search USING fts5(
    prompt, output, content = 'chat_text', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2');
CREATE TRIGGER chat_search_insert AFTER INSERT ON request_text WHEN new.searchable = 1 BEGIN
    INSERT INTO chat_search(rowid, prompt, output) VALUES (new.id, new.prompt, new.output);
END;
CREATE TRIGGER chat_search_delete AFTER DELETE ON request_text WHEN old.searchable = 1 BEGIN
    INSERT INTO chat_search(chat_search, rowid, prompt, output) VALUES ('delete', old.id, old.prompt, old.output);
END;
CREATE TRIGGER chat_search_update AFTER UPDATE OF prompt, output ON request_text WHEN new.searchable = 1 BEGIN
    INSERT INTO chat_search(chat_search, rowid, prompt, output) VALUES ('delete', old.id, old.prompt, old.output);
    INSERT INTO chat_search(rowid, prompt, output) VALUES (new.id, new.prompt, new.output);
END;
)sql";

constexpr std::array kMigrations = {Migration{1, kFirstSchema}};

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

}  // namespace firsttoken::sessions
