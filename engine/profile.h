#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

/// The settings of the engine for one run, as a value. YAML in and out, checks, requested against effective.
/// Pure functions: any thread.
namespace firsttoken::engine {

/// What the weights of the matrix products are converted to while loading. F32 also computes in f32.
enum class Precision { AsStored, F32, Bf16, F16, Fp8, Int8, Q6K, Q4K, Q4_0 };
enum class KvCachePrecision { F16, F32, Bf16, Fp8, Int8 };
enum class TrimPolicy { Refuse, DropOldest };
enum class SchedulePolicy { Fcfs, Priority, ShortestPrompt, LongestPrefix };
enum class DeviceKind { Auto, Cpu, Cuda };

struct SamplingSettings {
    double temperature = 0.7;  ///< 0: greedy
    double topP = 1.0;
    std::int64_t topK = 0;     ///< 0: off
    double minP = 0.0;
    double typicalP = 1.0;
    double repetitionPenalty = 1.0;  ///< 1: off (the field's neutral value); YAML repetition_penalty
    double frequencyPenalty = 0.0;
    double presencePenalty = 0.0;
    std::optional<std::uint64_t> seed;
    std::map<std::int32_t, double> logitBias;  ///< token id -> added to its logit
    bool operator==(const SamplingSettings&) const = default;
};

struct SloTarget {
    std::string metric;        ///< ttft, itl, tpot, e2e, queue
    double quantile = 0.95;
    double limitMs = 650;
    bool operator==(const SloTarget&) const = default;
};

struct Profile {
    std::string name;          ///< file stem or built-in name; not a key of the YAML

    struct Model {
        std::optional<std::string> path;
        std::optional<std::string> chatTemplate;
        Precision precision = Precision::AsStored;
        /// prompt + output tokens of one sequence; none: the model's context_length, at most 8,192
        std::optional<std::int64_t> maxContextTokens;
        TrimPolicy trim = TrimPolicy::Refuse;
        bool operator==(const Model&) const = default;
    } model;
    struct Scheduler {
        bool continuousBatching = true;
        std::int64_t maxConcurrentSequences = 16;
        std::int64_t maxBatchTokens = 2048;
        SchedulePolicy policy = SchedulePolicy::Fcfs;
        bool chunkedPrefill = true;
        std::int64_t prefillTimeMs = 0;    ///< 0: automatic, a share of the step
        std::int64_t maxQueue = 1024;
        std::int64_t queueTimeoutMs = 0;   ///< 0: none
        bool operator==(const Scheduler&) const = default;
    } scheduler;
    struct Cache {
        bool kvCache = true;
        bool prefixCache = true;
        std::optional<std::uint64_t> memoryBytes;  ///< none: auto
        std::int64_t blockTokens = 16;
        KvCachePrecision kvPrecision = KvCachePrecision::F16;
        bool operator==(const Cache&) const = default;
    } cache;
    struct Device {
        DeviceKind kind = DeviceKind::Auto;
        std::optional<std::int64_t> threads;       ///< none: auto
        std::optional<std::int64_t> gpuLayers;     ///< none: auto
        std::optional<bool> deterministic;         ///< none: true on CPU
        bool operator==(const Device&) const = default;
    } device;
    struct Response {
        bool streaming = true;
        bool cancelOnDisconnect = true;
        bool operator==(const Response&) const = default;
    } response;
    SamplingSettings sampling;
    struct Slo {
        std::optional<double> ttftMs = 650;
        std::optional<double> tpotMs;
        std::optional<double> e2eMs;
        std::vector<SloTarget> targets = {SloTarget{"ttft", 0.95, 650}};
        bool operator==(const Slo&) const = default;
    } slo;
    struct Cost {
        std::optional<double> perHour;
        std::optional<std::string> currency;
        bool operator==(const Cost&) const = default;
    } cost;

    bool operator==(const Profile&) const = default;
};

/// One fault of a profile's text; line and column count from 1.
struct ProfileError {
    int line = 0;
    int column = 0;
    std::string message;
    bool operator==(const ProfileError&) const = default;
};

/// All faults of the text, in its order; `profile` holds the defaults where a key was absent or wrong.
struct ParsedProfile {
    Profile profile;
    std::vector<ProfileError> errors;
    std::vector<std::string> keysGiven;  ///< dotted: "scheduler.max_batch_tokens"
};

/// Parses YAML of any origin (hostile too: bounded size and depth, no anchors or tags that multiply).
ParsedProfile parseProfile(std::string_view yaml, std::string name = {});
/// Complete YAML of a profile, every key with its unit as a comment; parseProfile() gives the same value back.
std::string toYaml(const Profile& profile);
/// The same keys as one JSON object (nested as in the YAML; unset is null).
std::string toJson(const Profile& profile);

/// Settings that did not come through parseProfile() (a command line, a request), against the same ranges. Errors:
/// BadInput, "sampling.top_p must be from 0 to 1, not 2".
Status checkSampling(const SamplingSettings& sampling);

/// What the engine must know to turn requested into effective. Unknown facts are left out.
struct ProfileFacts {
    std::optional<std::int64_t> contextLength;      ///< the model's
    std::optional<std::int64_t> groupCount;
    /// Bytes of one pool block of each layer group at (blockTokens = 1, f16), scaled by the caller's settings.
    std::vector<std::uint64_t> kvBytesPerToken;
    std::optional<std::uint64_t> weightBytes;
    std::optional<std::uint64_t> memoryBytes;       ///< of the machine, available to this process
    std::int64_t cores = 1;
    bool cudaPresent = false;
};

struct ProfileChange {
    std::string key;         ///< dotted
    std::string requested;   ///< as in YAML
    std::string effective;
    std::string reason;      ///< one sentence
    bool operator==(const ProfileChange&) const = default;
};

struct EffectiveProfile {
    Profile profile;                       ///< every optional that the engine needs is filled where facts allow
    std::vector<ProfileChange> changes;    ///< values that had to change, or cannot be honoured yet
};

EffectiveProfile effectiveProfile(const Profile& requested, const ProfileFacts& facts);

struct BuiltInProfile {
    std::string_view name;      ///< default, production, interactive, throughput, everything-off
    std::string_view summary;
    std::string_view yaml;
};
std::span<const BuiltInProfile> builtInProfiles();

/// `nameOrFile`: a built-in's name, else a file. Errors: NotFound, or BadInput with the first fault's line and
/// column ("profile.yaml:3:12: …").
Result<Profile> loadProfile(const std::string& nameOrFile);

}  // namespace firsttoken::engine
