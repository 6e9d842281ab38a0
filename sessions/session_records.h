#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/events.h"

/// The raw data of a session as plain values: what the store keeps, and what every derived figure is computed from.
/// All times are nanoseconds on the session's own axis: 0 = SessionHeader::clockStartNs on the steady clock.
namespace firsttoken::sessions {

using SessionId = std::int64_t;

enum class SessionKind { Chat, Load };
enum class SessionState { Running, Completed, Cancelled, Failed, Interrupted };

std::string_view toString(SessionKind kind);
std::string_view toString(SessionState state);

/// What a session was: enough to run it again and to judge whether it may be compared.
struct SessionHeader {
    SessionId id = 0;                      ///< given by the store
    SessionKind kind = SessionKind::Chat;
    SessionState state = SessionState::Running;
    double startedAt = 0;                  ///< Unix seconds
    std::optional<double> endedAt;
    std::int64_t clockStartNs = 0;         ///< steady clock at the axis' zero
    std::string title;
    std::string note;
    bool starred = false;
    std::string failure;                   ///< for Failed: the sentence

    std::string modelPath;
    std::string modelName;
    std::string architecture;
    std::string modelFormat;
    std::uint64_t modelBytes = 0;
    std::string modelHash;                 ///< sha256 of the file, hex; empty: not known (yet)

    std::string profileName;
    std::string requestedProfile;          ///< JSON, engine::toJson
    std::string effectiveProfile;          ///< JSON
    std::string profileChanges;            ///< JSON array of {key, requested, effective, reason}
    std::string arithmetic;                ///< int8 or f32
    std::string isa;

    std::string workload;                  ///< JSON of the workload (load sessions)
    std::optional<std::uint64_t> seed;
    std::string machine;                   ///< JSON of engine::MachineFacts
    std::string build;                     ///< version and compiler of this program
    std::string driver;                    ///< GPU driver; empty on CPU

    bool operator==(const SessionHeader&) const = default;
};

/// One request with all its times. Absent times did not happen.
struct RequestRecord {
    std::int64_t number = 0;               ///< within the session, from 1, in planned order
    std::int64_t plannedNs = 0;
    std::optional<std::int64_t> sentNs;    ///< handed to the engine
    std::optional<std::int64_t> scheduledNs;
    std::optional<std::int64_t> prefillEndNs;
    std::optional<std::int64_t> firstTokenNs;  ///< first non-empty text delta at the client
    std::optional<std::int64_t> endNs;
    std::vector<std::int64_t> deltaNs;     ///< arrival of every text delta at the client, ascending
    std::int64_t promptTokens = 0;
    std::int64_t cachedTokens = 0;
    std::int64_t outputTokens = 0;
    std::int64_t preemptions = 0;
    engine::FinishReason reason = engine::FinishReason::None;
    std::string detail;
    std::string tier;                      ///< small, medium, large; empty: no routing
    std::string routingReason;
    std::int64_t prefixGroup = -1;         ///< of the workload; -1: none
    bool hungUp = false;                   ///< the client left on purpose
    std::string prompt;                    ///< text; empty where it was not kept
    std::string output;

    bool operator==(const RequestRecord&) const = default;
};

struct SpanRecord {
    std::int64_t request = 0;              ///< RequestRecord::number
    engine::Stage stage = engine::Stage::Queue;
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;
    bool operator==(const SpanRecord&) const = default;
};

/// Gauges at one moment (10 Hz). What is not known is absent, never 0.
struct SampleRecord {
    std::int64_t atNs = 0;
    std::optional<std::int64_t> queued, prefilling, decoding;
    /// Referenced: the most since the sample before, so that no peak is missed; the others at this moment.
    std::optional<std::int64_t> blocksTotal, blocksReferenced, blocksCached;
    std::optional<double> prefillTokensPerS, decodeTokensPerS;  ///< since the sample before
    std::optional<double> deviceUse;         ///< time in engine steps / wall time, 0 … 1
    std::optional<double> processCpu;        ///< cores in use by this process
    std::optional<double> machineCpu;        ///< share of all cores busy, 0 … 1
    std::optional<std::int64_t> residentBytes, availableBytes;
    std::optional<std::int64_t> majorFaults; ///< since the start of the process
    std::optional<double> achievedGbPerS, achievedTopPerS;
    std::optional<double> watts;
    bool operator==(const SampleRecord&) const = default;
};

enum class MarkKind { WarmupEnd, SteadyEnd, LoadEnd, ProfileChange, Cancel, Chat, Note };
std::string_view toString(MarkKind kind);

struct MarkRecord {
    std::int64_t atNs = 0;
    MarkKind kind = MarkKind::Note;
    std::string text;
    bool operator==(const MarkRecord&) const = default;
};

/// Everything of one session.
struct SessionData {
    SessionHeader header;
    std::vector<RequestRecord> requests;   ///< by number
    std::vector<SpanRecord> spans;
    std::vector<SampleRecord> samples;     ///< by time
    std::vector<MarkRecord> marks;         ///< by time
    bool operator==(const SessionData&) const = default;
};

}  // namespace firsttoken::sessions
