#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/events.h"

namespace firsttoken::engine {

/// One request's tokens in the engine. Whoever submits fills the first part; the scheduler owns it from then on and
/// alone changes it. Engine loop's thread only.
struct Sequence {
    RequestId id = 0;
    std::vector<TokenId> tokens;  ///< prompt, then output. The last output token has no KV yet
    std::int64_t maxTokens = 0;   ///< output tokens; 0: as many as context and KV pools hold
    int priority = 0;             ///< higher first under SchedulePolicy::Priority
    std::string nameSpace;        ///< of the prefix cache: model, adapter, KV precision, RoPE settings, salt

    // --- kept by the scheduler ---
    RequestState state = RequestState::Queued;
    std::uint32_t promptTokens = 0;
    std::uint32_t computedTokens = 0;  ///< leading tokens whose KV is in `blocks`
    std::uint32_t cachedTokens = 0;    ///< prompt tokens taken from the prefix cache when it was first admitted
    std::uint32_t preemptions = 0;
    std::uint64_t arrivalOrder = 0;  ///< its age: lower is older; kept over preemptions
    Nanoseconds arrivalNs = 0;
    Nanoseconds firstScheduledNs = 0;  ///< 0: never yet
    SequenceBlocks blocks;

    std::uint32_t outputTokens() const { return static_cast<std::uint32_t>(tokens.size()) - promptTokens; }
    /// True once maxTokens are sampled: whoever samples must finish() it.
    bool atLimit() const { return static_cast<std::int64_t>(outputTokens()) >= maxTokens; }
    /// Tokens whose KV is missing: 1 for a decode.
    std::uint32_t remaining() const { return static_cast<std::uint32_t>(tokens.size()) - computedTokens; }
    /// Most positions that can ever have KV: the last token sampled needs none.
    std::uint32_t lastLength() const { return promptTokens + static_cast<std::uint32_t>(maxTokens) - 1; }

    // --- the scheduler's own notes ---
    std::uint64_t lastStep = 0;    ///< the step in which it last had rows
    std::uint32_t prefixHint = 0;  ///< length of its cached prefix at prefixHintVersion
    std::uint64_t prefixHintVersion = 0;
};

}  // namespace firsttoken::engine
