#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/result.h"

/// One timed run of a bench test, through the engine's door.
///
/// Prefill: one request of N tokens, one token of output. Inside the window: from the moment when the engine takes
/// the request up (firstScheduledNs) until its last prompt token is computed and the first output token is sampled
/// (prefillEndNs). Outside: making the prompt, the queue, delivery.
///
/// Decode: S requests of a short prompt, N tokens of output each. Inside: from the moment when the last of them has
/// its first token until the last of them ends; the tokens that came in between are counted. Outside: all prefill.
/// While the window is open all S sequences run together, but for the last step or two.
///
/// Equal work: prompts are drawn from a generator with a fixed seed, so that every repeat and every machine has the
/// same tokens; the likeliest token is taken each time, end-of-generation tokens do not end a run, and the prefix
/// cache is off. The digest is a hash of every output token in the order of the sequences: equal work, equal digest.
namespace firsttoken::app {

/// Prompt tokens of each sequence of a decode test.
constexpr std::int64_t decodePromptTokens = 8;

struct BenchRun {
    double tokensPerS = 0;
    std::uint64_t digest = 0;
};

/// Errors: the engine's (DoesNotFit, …), Internal if a run was too short to be timed.
engine::Result<BenchRun> runPrefill(engine::Engine& engine, std::int64_t tokens);
engine::Result<BenchRun> runDecode(engine::Engine& engine, std::int64_t tokens, std::int64_t sequences);

}  // namespace firsttoken::app
