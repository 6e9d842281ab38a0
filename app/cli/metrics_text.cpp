#include "app/cli/metrics_text.h"

#include <fmt/format.h>

namespace firsttoken::app {

using sessions::LatencyMetrics;
using sessions::SessionMetrics;

namespace {

Json latencyJson(const LatencyMetrics& latency) {
    const auto interval = [](const engine::QuantileEstimate& estimate) {
        return estimate.interval ? Json{estimate.interval->low, estimate.interval->high} : Json();
    };
    return {{"p50", orNull(latency.p50.value)},
            {"p95", orNull(latency.p95.value)},
            {"p99", orNull(latency.p99.value)},
            {"mean", orNull(latency.mean)},
            {"max", orNull(latency.max)},
            {"count", latency.count},
            {"p50_interval", interval(latency.p50)},
            {"p95_interval", interval(latency.p95)},
            {"p99_interval", interval(latency.p99)}};
}

/// JSON that a record keeps as text; null where there is none.
Json parsed(const std::string& text) {
    if (text.empty()) return {};
    auto value = Json::parse(text, nullptr, false);
    return value.is_discarded() ? Json(text) : value;
}

std::string estimateText(const engine::QuantileEstimate& estimate) {
    if (!estimate.value) return "not measured";
    if (!estimate.interval) return fmt::format("{:.1f} (not enough data for an interval)", *estimate.value);
    return fmt::format("{:.1f} ({:.1f} to {:.1f})", *estimate.value, estimate.interval->low, estimate.interval->high);
}

std::string latencyLine(std::string_view name, const LatencyMetrics& latency) {
    if (latency.count == 0) return fmt::format("{:<6} not measured\n", name);
    return fmt::format("{:<6} p50 {} ms · p95 {} ms · p99 {} ms\n", name, estimateText(latency.p50),
                       estimateText(latency.p95), estimateText(latency.p99));
}

std::string rateText(const std::optional<double>& rate, std::string_view unit) {
    return rate ? fmt::format("{:.1f} {}", *rate, unit) : "not measured";
}

std::string shareText(const std::optional<double>& share) {
    return share ? fmt::format("{:.1f} %", *share * 100) : "not measured";
}

}  // namespace

Json sessionJson(const sessions::SessionData& session, const SessionMetrics& metrics) {
    const auto& header = session.header;
    const auto& counts = metrics.counts;
    Json value = {{"session", header.id == 0 ? Json() : Json(header.id)},
                  {"kind", sessions::toString(header.kind)},
                  {"state", sessions::toString(header.state)},
                  {"requests", counts.requests},
                  {"completed", counts.completed},
                  {"failed", counts.failed},
                  {"cancelled", counts.cancelled},
                  {"hung_up", counts.hungUp},
                  {"unfinished", counts.unfinished},
                  {"warmup", counts.warmup},
                  {"duration_s", orNull(metrics.durationS)}};
    value["ttft_ms"] = latencyJson(metrics.ttft);
    value["itl_ms"] = latencyJson(metrics.itl);
    value["tpot_ms"] = latencyJson(metrics.tpot);
    value["e2e_ms"] = latencyJson(metrics.e2e);
    value["queue_ms"] = latencyJson(metrics.queue);
    value["output_tokens_per_s"] = orNull(metrics.outputTokensPerS);
    value["prompt_tokens_per_s"] = orNull(metrics.promptTokensPerS);
    value["requests_per_s"] = orNull(metrics.requestsPerS);
    value["kv_blocks"] = {{"total", orNull(metrics.kv.total)}, {"peak_referenced", orNull(metrics.kv.peakReferenced)}};
    value["kv_peak_fraction"] = orNull(metrics.kv.peakFraction);
    value["prefix_hit_fraction"] = orNull(metrics.prefixHitFraction);
    value["goodput_per_s"] = orNull(metrics.goodputPerS);
    value["goodput_fraction"] = orNull(metrics.goodputFraction);
    value["device_use"] = orNull(metrics.deviceUse);
    value["preemptions"] = counts.preemptions;
    value["started_at"] = header.startedAt;
    value["title"] = header.title;
    value["note"] = header.note;
    value["failure"] = header.failure.empty() ? Json() : Json(header.failure);
    value["model"] = {{"name", header.modelName},
                      {"path", header.modelPath},
                      {"sha256", header.modelHash.empty() ? Json() : Json(header.modelHash)}};
    value["profile"] = header.profileName;
    value["requested"] = parsed(header.requestedProfile);
    value["effective"] = parsed(header.effectiveProfile);
    value["changes"] = parsed(header.profileChanges);
    value["workload"] = parsed(header.workload);
    value["seed"] = orNull(header.seed);
    value["machine"] = parsed(header.machine);
    value["build"] = header.build;
    value["isa"] = header.isa;
    value["arithmetic"] = header.arithmetic;
    return value;
}

std::string metricsText(const SessionMetrics& metrics) {
    const auto& counts = metrics.counts;
    std::string text = fmt::format("{} requests · {} completed · {} failed · {} cancelled", counts.requests,
                                   counts.completed, counts.failed, counts.cancelled);
    if (counts.warmup > 0) text += fmt::format(" · {} of the warm-up left out", counts.warmup);
    text += metrics.durationS ? fmt::format(" · {:.1f} s\n", *metrics.durationS) : std::string("\n");
    text += latencyLine("TTFT", metrics.ttft) + latencyLine("ITL", metrics.itl) + latencyLine("TPOT", metrics.tpot) +
            latencyLine("E2E", metrics.e2e) + latencyLine("queue", metrics.queue);
    text += fmt::format("output {} · prompts {} · goodput {} ({} of all)\n",
                        rateText(metrics.outputTokensPerS, "tok/s"), rateText(metrics.promptTokensPerS, "tok/s"),
                        rateText(metrics.goodputPerS, "requests/s"), shareText(metrics.goodputFraction));
    text += fmt::format("prefix hits {} · KV peak {} · device use {}\n", shareText(metrics.prefixHitFraction),
                        shareText(metrics.kv.peakFraction), shareText(metrics.deviceUse));
    for (const auto& outcome : metrics.targets) {
        text += fmt::format("target {} p{:g} ≤ {:g} ms: {}\n", outcome.target.metric, outcome.target.quantile * 100,
                            outcome.target.limitMs, !outcome.met ? "not measured" : (*outcome.met ? "met" : "missed"));
    }
    return text;
}

}  // namespace firsttoken::app
