#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What the engine tells: plain values with monotonic nanoseconds (steady clock).
namespace firsttoken::engine {

using RequestId = std::uint64_t;
using Nanoseconds = std::int64_t;  ///< std::chrono::steady_clock, since its epoch

enum class RequestState : std::uint8_t { Queued, Prefilling, Decoding, Finished };
enum class FinishReason : std::uint8_t { None, Stop, Length, Cancelled, Rejected, Error };
enum class Stage : std::uint8_t {
    ClientLag, Gateway, Auth, Retrieval, Rerank, Prompt, Route, Queue, Prefill, Decode, Moderation, Stream
};

std::string_view toString(RequestState state);
std::string_view toString(FinishReason reason);
std::string_view toString(Stage stage);

struct StateEvent {
    RequestId request = 0;
    RequestState state = RequestState::Queued;
    FinishReason reason = FinishReason::None;
    std::uint32_t promptTokens = 0;
    std::uint32_t cachedTokens = 0;
    std::uint32_t prefilledTokens = 0;
    std::uint32_t outputTokens = 0;
    std::uint32_t preemptions = 0;
    bool operator==(const StateEvent&) const = default;
};
struct TokenEvent {
    RequestId request = 0;
    std::int32_t token = 0;
    std::uint32_t index = 0;           ///< 0 for the first output token
    bool operator==(const TokenEvent&) const = default;
};
struct StepEvent {
    std::uint64_t step = 0;
    Nanoseconds durationNs = 0;
    std::uint32_t prefillRows = 0;
    std::uint32_t decodeRows = 0;
    std::uint32_t queued = 0;
    std::uint32_t prefilling = 0;
    std::uint32_t decoding = 0;
    std::uint32_t blocksTotal = 0;     ///< summed over the layer groups
    std::uint32_t blocksReferenced = 0;
    std::uint32_t blocksCached = 0;
    std::uint64_t weightBytes = 0;
    std::uint64_t kvBytesRead = 0;
    std::uint64_t multiplyAdds = 0;
    bool operator==(const StepEvent&) const = default;
};
struct SpanEvent {
    RequestId request = 0;
    Stage stage = Stage::Queue;
    Nanoseconds startNs = 0;
    Nanoseconds endNs = 0;
    bool operator==(const SpanEvent&) const = default;
};

struct Event {
    Nanoseconds atNs = 0;
    std::variant<StateEvent, TokenEvent, StepEvent, SpanEvent> what;
    bool operator==(const Event&) const = default;
};

/// What a reader got: events in order, and how many were overwritten before it came.
struct EventBatch {
    std::vector<Event> events;
    std::uint64_t dropped = 0;         ///< since this reader's last read
    std::uint64_t next = 0;            ///< pass it to the next read
};

}  // namespace firsttoken::engine
