#include <fmt/format.h>

#include <cmath>

#include "sessions/load/workload.h"

namespace firsttoken::sessions {

namespace {

std::string plural(std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// 32 s, 1.5 s, 4 min, 2.5 h
std::string seconds(double value) {
    if (value >= 2 * 3600) return fmt::format("{:.3g} h", value / 3600);
    if (value >= 120) return fmt::format("{:.3g} min", value / 60);
    return value >= 10 ? fmt::format("{:.0f} s", value) : fmt::format("{:.2g} s", value);
}

std::string percent(double share) { return fmt::format("{:.3g} %", share * 100); }

std::string rate(double perS) { return perS < 1000 ? fmt::format("{:.1f}/s", perS) : fmt::format("{:.0f}/s", perS); }

std::string arrivalsOf(const Arrivals& arrivals) {
    const std::string atRate =
        arrivals.ratePerS < 0.1 ? fmt::format("{:.2g}/s", arrivals.ratePerS) : rate(arrivals.ratePerS);
    switch (arrivals.kind) {
        case ArrivalKind::Constant:
            return "evenly at " + atRate;
        case ArrivalKind::Poisson:
            return "Poisson at " + atRate;
        case ArrivalKind::Gamma:
            return fmt::format("gamma gaps of shape {:.3g} at {}", arrivals.shape, atRate);
        case ArrivalKind::Closed:
            break;
    }
    std::string text = plural(arrivals.clients, "client") + (arrivals.clients == 1 ? " that waits" : " that wait") +
                       (arrivals.clients == 1 ? " for its answers" : " for their answers");
    if (arrivals.thinkS > 0) {
        const std::string_view kind = arrivals.think == ThinkKind::Fixed ? "" : " on average";
        text += fmt::format(" and pause {}{}", seconds(arrivals.thinkS), kind);
    }
    if (arrivals.rampS > 0) text += fmt::format(", started over {}", seconds(arrivals.rampS));
    return text;
}

std::string lengthOf(const TokenLength& length) {
    if (length.kind == LengthKind::Fixed) return fmt::format("{:.0f}", length.mean);
    const std::string_view kind = length.kind == LengthKind::Normal ? "normal" : "log-normal";
    return fmt::format("{:.4g} ± {:.3g} ({}, {} to {})", length.mean, length.sd, kind, length.min, length.max);
}

std::string prefixOf(const Workload& workload) {
    const SharedPrefix& prefix = workload.sharedPrefix;
    const std::string tokens = plural(workload.prefixTokens(), "token");
    if (prefix.groups == 1) return fmt::format("{} share a prefix of {}", percent(prefix.share), tokens);
    return fmt::format("{} share one of {} prefixes of {}", percent(prefix.share), prefix.groups, tokens);
}

}  // namespace

std::string describeWorkload(const Workload& workload) {
    std::string text = workload.requests ? plural(*workload.requests, "request") + ", " : "";
    text += arrivalsOf(workload.arrivals);
    const std::optional<double> takes = expectedSeconds(workload);
    if (takes && !workload.requests) {
        text += ", for " + seconds(*takes);
    } else if (takes) {
        text += ", about " + seconds(*takes);
    } else if (workload.durationS) {
        text += ", at most " + seconds(*workload.durationS);
    }
    text += fmt::format("; prompts of {} tokens, answers of {}", lengthOf(workload.promptTokens),
                        lengthOf(workload.outputTokens));
    if (workload.sharedPrefix.share > 0) text += "; " + prefixOf(workload);
    if (workload.hangUpShare > 0) text += fmt::format("; {} hang up", percent(workload.hangUpShare));
    if (workload.warmup.requests > 0) {
        text += fmt::format("; the first {} warm up", plural(workload.warmup.requests, "request"));
    } else if (workload.warmup.seconds > 0) {
        text += fmt::format("; the first {} warm up", seconds(workload.warmup.seconds));
    }
    return text;
}

}  // namespace firsttoken::sessions
