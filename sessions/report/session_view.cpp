#include "sessions/report/session_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sessions/report/quantities.h"

namespace firsttoken::sessions {

namespace {

constexpr std::int64_t shortestBucketNs = 200'000'000;  ///< twice the period of the samples: each bucket has some
constexpr std::int64_t mostChartBuckets = 376;          ///< two pixels each

std::string letterOf(std::size_t index) {
    std::string letters;
    for (++index; index > 0; index = (index - 1) / 26) {
        letters.insert(letters.begin(), static_cast<char>('A' + (index - 1) % 26));
    }
    return letters;
}

/// How long the timeline is does not depend on its buckets; a coarse one tells where it begins and ends.
std::int64_t chartBucketNs(const Timeline& coarse) {
    const double ns = static_cast<double>(coarse.bucketNs) * static_cast<double>(coarse.buckets.size());
    const double bucket = std::ceil(ns / mostChartBuckets);
    return std::max(shortestBucketNs, static_cast<std::int64_t>(std::min(bucket, 4e18)));
}

}  // namespace

RequestKind SessionView::kindOf(const RequestRecord& request) const {
    using engine::FinishReason;
    if (metrics.counts.warmup > 0 && request.plannedNs < metrics.windowStartNs) return RequestKind::Warmup;
    if (succeeded(request)) return RequestKind::Completed;
    if (request.reason == FinishReason::Rejected || request.reason == FinishReason::Error) return RequestKind::Failed;
    return request.reason == FinishReason::None ? RequestKind::Unfinished : RequestKind::Left;
}

std::optional<double> SessionView::ttftMs(const RequestRecord& request) const {
    return latenciesOf(request, yardstick.streaming).ttft;
}

std::string SessionView::name() const { return label.empty() ? title : label + " · " + title; }

SessionView viewOf(const SessionData& session, std::size_t index, bool several) {
    SessionView view;
    view.data = &session;
    view.metrics = summarise(session);
    view.yardstick = yardstickOf(session.header.effectiveProfile);
    view.timeline = timeline(session, chartBucketNs(timeline(session, 1'000'000'000)));
    if (several) view.label = letterOf(index);
    view.title = session.header.title;
    if (view.title.find_first_not_of(" \t\r\n") == std::string::npos) {
        view.title = session.header.id == 0 ? "Session" : fmt::format("Session {}", session.header.id);
    }
    if (!view.timeline.buckets.empty()) {
        const auto bucketS = secondsOf(view.timeline.bucketNs);
        view.startS = secondsOf(view.timeline.buckets.front().startNs);
        view.endS = view.startS + bucketS * static_cast<double>(view.timeline.buckets.size());
    }
    return view;
}

MetricName metricName(std::string_view name) {
    if (name == "output_tokens_per_s") return {"Output rate", "tok/s", false};
    if (name == "prompt_tokens_per_s") return {"Prompt rate", "tok/s", false};
    if (name == "requests_per_s") return {"Completed", "requests/s", false};
    if (name == "goodput_per_s") return {"Goodput", "requests/s", false};
    if (name == "goodput_fraction") return {"Goodput, share of all", "", true};
    if (name == "prefix_hit_fraction") return {"Prefix hits", "", true};
    if (name == "kv_peak_fraction") return {"KV peak", "", true};
    if (name == "device_use") return {"Device use", "", true};
    const auto cut = name.rfind('_');
    if (cut != std::string_view::npos) {
        if (const auto metric = latencyMetric(name.substr(0, cut))) {
            return {fmt::format("{} {}", latencyName(*metric), name.substr(cut + 1)), "ms", false};
        }
    }
    return {std::string(name), "", false};
}

std::string_view latencyName(LatencyMetric metric) {
    switch (metric) {
        case LatencyMetric::Ttft:
            return "TTFT";
        case LatencyMetric::Itl:
            return "ITL";
        case LatencyMetric::Tpot:
            return "TPOT";
        case LatencyMetric::E2e:
            return "E2E";
        case LatencyMetric::Queue:
            return "Queue time";
    }
    return "";
}

}  // namespace firsttoken::sessions
