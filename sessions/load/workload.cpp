#include "sessions/load/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Status;

namespace {

constexpr double mostRatePerS = 1e6;
constexpr double leastShape = 0.01, mostShape = 1e4;
constexpr std::int64_t mostClients = 4096;
constexpr double mostSeconds = 7 * 24 * 3600;
constexpr std::int64_t mostLength = 1'000'000;
constexpr std::int64_t mostGroups = 10'000;

/// Remembers the first fault, so that the rules read as a list.
class Rules {
public:
    void require(bool holds, std::string_view key, const std::string& what) {
        if (!holds && m_fault.empty()) m_fault = fmt::format("{} {}", key, what);
    }
    void range(double value, double low, double high, std::string_view key) {
        require(value >= low && value <= high, key, fmt::format("must be from {} to {}, not {}", low, high, value));
    }
    void range(std::int64_t value, std::int64_t low, std::int64_t high, std::string_view key) {
        require(value >= low && value <= high, key, fmt::format("must be from {} to {}, not {}", low, high, value));
    }
    Status verdict() const {
        if (m_fault.empty()) return engine::Done{};
        return Error{ErrorCode::BadInput, m_fault};
    }

private:
    std::string m_fault;
};

void checkArrivals(const Arrivals& arrivals, Rules& rules) {
    if (arrivals.isOpen()) {
        rules.require(arrivals.ratePerS > 0 && arrivals.ratePerS <= mostRatePerS, "arrivals.rate_per_s",
                      fmt::format("must be above 0 and at most {}, not {}", mostRatePerS, arrivals.ratePerS));
    }
    if (arrivals.kind == ArrivalKind::Gamma) rules.range(arrivals.shape, leastShape, mostShape, "arrivals.shape");
    if (arrivals.kind != ArrivalKind::Closed) return;
    rules.range(arrivals.clients, 1, mostClients, "arrivals.clients");
    rules.range(arrivals.thinkS, 0, mostSeconds, "arrivals.think_s");
    rules.range(arrivals.rampS, 0, mostSeconds, "arrivals.ramp_s");
}

void checkLength(const TokenLength& length, const std::string& key, Rules& rules) {
    rules.range(length.mean, 1, static_cast<double>(mostLength), key + ".mean");
    if (length.kind == LengthKind::Fixed) {
        rules.require(length.mean == std::floor(length.mean), key + ".mean", "of a fixed length must be whole");
        return;
    }
    rules.range(length.sd, 0, static_cast<double>(mostLength), key + ".sd");
    rules.range(length.min, 1, mostLength, key + ".min");
    rules.range(length.max, 1, mostLength, key + ".max");
    rules.require(length.min <= length.max, key + ".min",
                  fmt::format("({}) must not be above max ({})", length.min, length.max));
    rules.require(static_cast<double>(length.min) <= length.mean && length.mean <= static_cast<double>(length.max),
                  key + ".mean",
                  fmt::format("({}) must lie within min and max ({} to {})", length.mean, length.min, length.max));
}

void checkLimits(const Workload& workload, Rules& rules) {
    rules.require(workload.requests || workload.durationS, "requests", "or duration_s must be given");
    if (workload.requests) rules.range(*workload.requests, 1, mostRequests, "requests");
    if (workload.durationS) {
        rules.require(*workload.durationS > 0 && *workload.durationS <= mostSeconds, "duration_s",
                      fmt::format("must be above 0 and at most {}, not {}", mostSeconds, *workload.durationS));
    }
    const Warmup& warmup = workload.warmup;
    rules.require(warmup.requests == 0 || warmup.seconds == 0, "warm_up",
                  "is given in requests or in seconds, not both");
    rules.range(warmup.requests, 0, mostRequests, "warm_up.requests");
    rules.range(warmup.seconds, 0, mostSeconds, "warm_up.seconds");
    rules.require(!workload.requests || warmup.requests < *workload.requests || warmup.requests == 0,
                  "warm_up.requests",
                  fmt::format("({}) leaves none of the {} requests", warmup.requests, workload.requests.value_or(0)));
    rules.require(
        !workload.durationS || warmup.seconds < *workload.durationS, "warm_up.seconds",
        fmt::format("({}) leaves nothing of duration_s ({})", warmup.seconds, workload.durationS.value_or(0)));
}

}  // namespace

std::int64_t Workload::prefixTokens() const {
    if (sharedPrefix.tokens > 0) return sharedPrefix.tokens;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(promptTokens.mean * 3 / 4));
}

std::string_view toString(ArrivalKind kind) {
    switch (kind) {
        case ArrivalKind::Constant:
            return "constant";
        case ArrivalKind::Poisson:
            return "poisson";
        case ArrivalKind::Gamma:
            return "gamma";
        case ArrivalKind::Closed:
            return "closed";
    }
    return "unknown";
}

std::string_view toString(ThinkKind kind) { return kind == ThinkKind::Fixed ? "fixed" : "exponential"; }

std::string_view toString(LengthKind kind) {
    switch (kind) {
        case LengthKind::Fixed:
            return "fixed";
        case LengthKind::Normal:
            return "normal";
        case LengthKind::LogNormal:
            return "log_normal";
    }
    return "unknown";
}

Status checkWorkload(const Workload& workload) {
    Rules rules;
    checkArrivals(workload.arrivals, rules);
    checkLimits(workload, rules);
    checkLength(workload.promptTokens, "prompt_tokens", rules);
    checkLength(workload.outputTokens, "output_tokens", rules);
    const SharedPrefix& prefix = workload.sharedPrefix;
    rules.range(prefix.share, 0.0, 1.0, "shared_prefix.share");
    rules.range(prefix.groups, 1, mostGroups, "shared_prefix.groups");
    rules.range(prefix.tokens, 0, mostLength, "shared_prefix.tokens");
    rules.require(prefix.share <= 0 || workload.prefixTokens() * prefix.groups <= mostPlannedTokens, "shared_prefix",
                  fmt::format("has {} prefixes of {} tokens, more than the {} million that are planned", prefix.groups,
                              workload.prefixTokens(), mostPlannedTokens / 1'000'000));
    rules.range(workload.hangUpShare, 0.0, 1.0, "hang_up_share");
    return rules.verdict();
}

std::optional<double> expectedSeconds(const Workload& workload) {
    if (!workload.arrivals.isOpen()) return workload.requests ? std::nullopt : workload.durationS;
    if (!workload.requests) return workload.durationS;
    const double seconds = static_cast<double>(*workload.requests) / workload.arrivals.ratePerS;
    return workload.durationS ? std::min(seconds, *workload.durationS) : seconds;
}

Workload fittedTo(Workload workload, std::int64_t contextTokens) {
    const auto most = [](const TokenLength& length) {
        return length.kind == LengthKind::Fixed ? static_cast<std::int64_t>(length.mean) : length.max;
    };
    if (most(workload.promptTokens) + most(workload.outputTokens) <= contextTokens) return workload;
    const auto lower = [](TokenLength& length, std::int64_t limit) {
        limit = std::max<std::int64_t>(limit, 1);
        length.mean = std::min(length.mean, static_cast<double>(limit));
        length.max = std::min(length.max, limit);
        length.min = std::min(length.min, limit);
    };
    // The answer gives way down to a third of the context before the prompt does.
    const std::int64_t output = std::max(contextTokens / 3, contextTokens - most(workload.promptTokens));
    lower(workload.outputTokens, output);
    lower(workload.promptTokens, contextTokens - most(workload.outputTokens));
    if (workload.sharedPrefix.tokens > 0) {
        workload.sharedPrefix.tokens = std::min(workload.sharedPrefix.tokens, most(workload.promptTokens));
    }
    return workload;
}

}  // namespace firsttoken::sessions
