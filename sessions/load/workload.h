#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/result.h"

/// What a load session asks of an engine, as a value: when requests come, how long they are, what they share, who
/// hangs up. Pure functions: any thread. The limits that a request must meet come from the profile, not from here.
namespace firsttoken::sessions {

/// Open loop: requests come at planned times whatever the engine does. Closed loop: each client waits for its answer.
enum class ArrivalKind { Constant, Poisson, Gamma, Closed };
enum class ThinkKind { Fixed, Exponential };

struct Arrivals {
    ArrivalKind kind = ArrivalKind::Poisson;
    double ratePerS = 2;       ///< open loop: mean rate
    double shape = 1;          ///< Gamma: of the gaps; 1 is Poisson, below it burstier, above it more even
    std::int64_t clients = 8;  ///< Closed
    ThinkKind think = ThinkKind::Fixed;
    double thinkS = 0;  ///< Closed: mean pause between an answer's end and the client's next request
    double rampS = 0;   ///< Closed: clients start evenly spread over this time; 0: all at once
    bool operator==(const Arrivals&) const = default;

    bool isOpen() const { return kind != ArrivalKind::Closed; }
};

enum class LengthKind { Fixed, Normal, LogNormal };

/// A number of tokens: drawn from a distribution cut to min … max, whose mean and sd (before the cut) are given in
/// tokens for LogNormal too.
struct TokenLength {
    LengthKind kind = LengthKind::Fixed;
    double mean = 128;
    double sd = 0;
    std::int64_t min = 1;
    std::int64_t max = 1'000'000;
    bool operator==(const TokenLength&) const = default;
};

struct SharedPrefix {
    double share = 0;         ///< of the requests, 0 … 1
    std::int64_t groups = 1;  ///< different prefixes
    std::int64_t tokens = 0;  ///< of each prefix; 0: three quarters of the mean prompt
    bool operator==(const SharedPrefix&) const = default;
};

/// Requests planned within it are sent and stored, and left out of the figures. At most one of the two.
struct Warmup {
    std::int64_t requests = 0;
    double seconds = 0;
    bool operator==(const Warmup&) const = default;
};

struct Workload {
    std::string name;  ///< a built-in's name or the file's stem; not a key of the JSON
    Arrivals arrivals;
    std::optional<std::int64_t> requests = 64;  ///< whichever of the two limits comes first; at least one
    std::optional<double> durationS;            ///< no request is planned after it
    TokenLength promptTokens{LengthKind::Fixed, 128, 0, 1, 1'000'000};  ///< special tokens included
    TokenLength outputTokens{LengthKind::Fixed, 64, 0, 1, 1'000'000};   ///< exact: end of generation is ignored
    SharedPrefix sharedPrefix;
    double hangUpShare = 0;  ///< of the requests whose client leaves after a random output token, 0 … 1
    Warmup warmup;
    std::uint64_t seed = 1;

    bool operator==(const Workload&) const = default;

    std::int64_t prefixTokens() const;  ///< with the automatic value resolved
};

/// The most that a workload may plan, so that a plan fits memory.
constexpr std::int64_t mostRequests = 1'000'000;
constexpr std::int64_t mostPlannedTokens = 256'000'000;

std::string_view toString(ArrivalKind kind);
std::string_view toString(ThinkKind kind);
std::string_view toString(LengthKind kind);

/// Every value against its range and the others. Errors: BadInput, one sentence that names the key.
engine::Status checkWorkload(const Workload& workload);
/// One sentence that says what will happen: "64 requests, Poisson at 2.0/s, about 32 s; prompts of 128 tokens, …".
std::string describeWorkload(const Workload& workload);
/// Seconds that the arrivals take, where that does not depend on the engine.
std::optional<double> expectedSeconds(const Workload& workload);
/// The same workload with lengths lowered until every prompt and answer together fit a context: for defaults that
/// nobody asked for. What a person wrote is refused by makeRequestPlan() instead.
Workload fittedTo(Workload workload, std::int64_t contextTokens);

/// Strict: unknown and duplicate keys, wrong types and impossible values are errors, with line and column where they
/// are known. Text of any origin; its size and depth are bounded. Errors: BadInput.
engine::Result<Workload> parseWorkload(std::string_view json, std::string name = {});
/// Complete, every key; parseWorkload() gives the same value back. `indent` < 0: one line.
std::string toJson(const Workload& workload, int indent = -1);

struct BuiltInWorkload {
    std::string_view name;
    std::string_view json;
};
std::span<const BuiltInWorkload> builtInWorkloads();
/// `nameOrFile`: a built-in's name, else a file. Errors: NotFound, Io, BadInput ("load.json:3:12: …").
engine::Result<Workload> loadWorkload(const std::string& nameOrFile);

}  // namespace firsttoken::sessions
