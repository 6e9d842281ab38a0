#include "sessions/report/metric_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "sessions/report/quantities.h"

namespace firsttoken::sessions {

namespace {

void row(Markup& html, std::string_view name, std::string_view value, std::string_view note = {}) {
    html.open("tr").element("th", name, {{"scope", "row"}}).element("td", value, {{"class", "number"}});
    html.element("td", note, {{"class", "note"}}).close();
}

/// A percentile with its interval below it.
void estimateCell(Markup& html, const engine::QuantileEstimate& estimate) {
    html.open("td", {{"class", "number"}}).text(formatValue(estimate.value, ""));
    if (estimate.value) {
        const auto& interval = estimate.interval;
        html.element("span",
                     interval ? formatNumber(interval->low) + " to " + formatNumber(interval->high) : "not enough data",
                     {{"class", "note"}});
    }
    html.close();
}

void latencyRow(Markup& html, std::string_view name, const LatencyMetrics& latency, std::string_view note) {
    html.open("tr").open("th", {{"scope", "row"}}).text(name).element("span", note, {{"class", "note"}}).close();
    const auto cell = [&](std::string_view text) { html.element("td", text, {{"class", "number"}}); };
    cell(formatCount(latency.count));
    if (latency.count == 0) {
        html.element("td", notMeasured, {{"class", "number"}, {"colspan", "5"}}).close();
        return;
    }
    cell(formatValue(latency.mean, ""));
    for (const engine::QuantileEstimate* estimate : {&latency.p50, &latency.p95, &latency.p99}) {
        estimateCell(html, *estimate);
    }
    cell(formatValue(latency.max, ""));
    html.close();
}

void writeLatencies(Markup& html, const SessionMetrics& metrics) {
    html.open("div", {{"class", "scroll"}}).open("table").open("thead").open("tr");
    html.element("th", "Latency, ms", {{"scope", "col"}});
    for (const char* name : {"values", "mean", "p50", "p95", "p99", "max"}) {
        html.element("th", name, {{"scope", "col"}, {"class", "number"}});
    }
    html.close().close().open("tbody");
    latencyRow(html, "TTFT", metrics.ttft, "planned arrival to first text, queue included");
    latencyRow(html, "ITL", metrics.itl, "gap between text deltas, all requests pooled");
    latencyRow(html, "ITL per request", metrics.itlPerRequest, "mean gap of each request");
    latencyRow(html, "TPOT", metrics.tpot, "(end − first text) / (output tokens − 1)");
    latencyRow(html, "E2E", metrics.e2e, "planned arrival to last text");
    latencyRow(html, "Queue time", metrics.queue, "planned arrival to first scheduled");
    latencyRow(html, "Send lag", metrics.sendLag, "planned to sent: what the load generator is late");
    html.close().close().close();
}

std::string requestsNote(const RequestCounts& counts) {
    std::string note = fmt::format("{} failed, {} cancelled (of these {} clients who left)", formatCount(counts.failed),
                                   formatCount(counts.cancelled), formatCount(counts.hungUp));
    if (counts.unfinished > 0) note += fmt::format(", {} without a known end", formatCount(counts.unfinished));
    if (counts.warmup > 0) note += fmt::format("; {} of the warm-up in no figure", formatCount(counts.warmup));
    return note;
}

void writeTotals(Markup& html, const SessionMetrics& metrics) {
    const RequestCounts& counts = metrics.counts;
    html.open("div", {{"class", "scroll"}}).open("table").open("tbody");
    row(html, "Completed", fmt::format("{} of {}", formatCount(counts.completed), formatCount(counts.requests)),
        requestsNote(counts));
    row(html, "Measured for", formatValue(metrics.durationS, "s"), "without the warm-up, to the end of the load");
    row(html, "Output", formatValue(metrics.outputTokensPerS, "tok/s"), formatCount(counts.outputTokens) + " tokens");
    row(html, "Prompts", formatValue(metrics.promptTokensPerS, "tok/s"),
        fmt::format("{} tokens, {} from the prefix cache", formatCount(counts.promptTokens),
                    formatCount(counts.cachedTokens)));
    row(html, "Completed rate", formatValue(metrics.requestsPerS, "requests/s"));
    row(html, "Goodput", formatValue(metrics.goodputPerS, "requests/s"),
        metrics.goodputFraction
            ? fmt::format("{} of all ended requests met every limit", formatShare(metrics.goodputFraction))
            : "requests within every limit / time");
    row(html, "Prefix hits", formatShare(metrics.prefixHitFraction), "prompt tokens from the cache / prompt tokens");
    row(html, "KV peak", formatShare(metrics.kv.peakFraction),
        metrics.kv.total ? fmt::format("{} of {} blocks referenced",
                                       metrics.kv.peakReferenced ? formatCount(*metrics.kv.peakReferenced) : "?",
                                       formatCount(*metrics.kv.total))
                         : std::string());
    row(html, "Preemptions", formatCount(counts.preemptions));
    row(html, "Device use", formatShare(metrics.deviceUse), "time in engine steps / wall time");
    row(html, "Memory read", formatValue(metrics.achievedGbPerS, "GB/s"), "achieved while steps ran");
    row(html, "Arithmetic", formatValue(metrics.achievedTopPerS, "TOP/s"), "achieved while steps ran");
    row(html, "Energy", formatValue(metrics.energyJ, "J"), "of the processor packages");
    row(html, "Cost of a good generation",
        metrics.costPerGoodGeneration ? formatValue(metrics.costPerGoodGeneration, metrics.currency.value_or(""))
                                      : "no price given",
        "device cost, idle time included / requests within the limits");
    for (const TargetOutcome& outcome : metrics.targets) {
        row(html,
            fmt::format("Target: {} p{:g} ≤ {}", outcome.target.metric, outcome.target.quantile * 100,
                        formatLimit(outcome.target.limitMs, "ms")),
            outcome.met ? (*outcome.met ? "met" : "missed") : notMeasured, formatEstimate(outcome.value) + " ms");
    }
    html.close().close().close();
}

struct Figure {
    std::string name, value, note;
    std::optional<bool> good;
};

/// A p95 with its interval, and whether it meets the session's target for it.
Figure latencyFigure(std::string_view name, LatencyMetric metric, const SessionMetrics& metrics) {
    const LatencyMetrics& latency = metrics.latency(metric);
    Figure figure{fmt::format("{} p95", name), formatValue(latency.p95.value, "ms"), {}, {}};
    if (latency.p95.interval) {
        figure.note = fmt::format("{} to {} (95 % interval)", formatNumber(latency.p95.interval->low),
                                  formatNumber(latency.p95.interval->high));
    } else if (latency.p95.value) {
        figure.note = "not enough data for an interval";
    }
    for (const TargetOutcome& outcome : metrics.targets) {
        if (outcome.target.metric != toString(metric) || outcome.target.quantile != 0.95) continue;
        figure.good = outcome.met;
        if (outcome.met) {
            figure.note = fmt::format("target ≤ {}: {}", formatLimit(outcome.target.limitMs, "ms"),
                                      *outcome.met ? "met" : "missed");
        }
    }
    return figure;
}

constexpr std::size_t mostColumns = 6;  ///< of sessions in one table: what a printed page holds

void writeColumns(Markup& html, std::span<const SessionView> views) {
    html.open("div", {{"class", "scroll"}}).open("table", {{"class", "side"}}).open("thead").open("tr");
    html.element("th", "Metric", {{"scope", "col"}});
    for (const SessionView& view : views) html.element("th", view.label, {{"scope", "col"}, {"class", "number"}});
    html.close().close().open("tbody");
    for (const LatencyMetric metric :
         {LatencyMetric::Ttft, LatencyMetric::Itl, LatencyMetric::Tpot, LatencyMetric::E2e, LatencyMetric::Queue}) {
        const std::pair<const char*, engine::QuantileEstimate LatencyMetrics::*> quantiles[] = {
            {"p50", &LatencyMetrics::p50}, {"p95", &LatencyMetrics::p95}, {"p99", &LatencyMetrics::p99}};
        for (const auto& [quantile, member] : quantiles) {
            html.open("tr").element("th", fmt::format("{} {}, ms", latencyName(metric), quantile), {{"scope", "row"}});
            for (const SessionView& view : views) estimateCell(html, view.metrics.latency(metric).*member);
            html.close();
        }
    }
    const auto line = [&](std::string_view name, const auto& valueOf) {
        html.open("tr").element("th", name, {{"scope", "row"}});
        for (const SessionView& view : views) html.element("td", valueOf(view.metrics), {{"class", "number"}});
        html.close();
    };
    line("Output", [](const SessionMetrics& m) { return formatValue(m.outputTokensPerS, "tok/s"); });
    line("Goodput", [](const SessionMetrics& m) { return formatValue(m.goodputPerS, "requests/s"); });
    line("Goodput, share of all", [](const SessionMetrics& m) { return formatShare(m.goodputFraction); });
    line("Prefix hits", [](const SessionMetrics& m) { return formatShare(m.prefixHitFraction); });
    line("KV peak", [](const SessionMetrics& m) { return formatShare(m.kv.peakFraction); });
    line("Device use", [](const SessionMetrics& m) { return formatShare(m.deviceUse); });
    line("Completed", [](const SessionMetrics& m) {
        return fmt::format("{} of {}", formatCount(m.counts.completed), formatCount(m.counts.requests));
    });
    html.close().close().close();
}

}  // namespace

void writeFigures(Markup& html, const SessionView& view) {
    const SessionMetrics& metrics = view.metrics;
    const Figure figures[] = {
        latencyFigure("TTFT", LatencyMetric::Ttft, metrics),
        latencyFigure("TPOT", LatencyMetric::Tpot, metrics),
        latencyFigure("E2E", LatencyMetric::E2e, metrics),
        {"Output",
         formatValue(metrics.outputTokensPerS, "tok/s"),
         formatCount(metrics.counts.outputTokens) + " tokens",
         {}},
        {"Goodput",
         formatValue(metrics.goodputPerS, "requests/s"),
         formatShare(metrics.goodputFraction) + " of all requests",
         {}},
        {"KV peak",
         formatShare(metrics.kv.peakFraction),
         metrics.kv.total ? "of " + formatCount(*metrics.kv.total) + " blocks" : std::string(),
         {}},
    };
    html.open("dl", {{"class", "figures"}});
    for (const Figure& figure : figures) {
        html.open("div").element("dt", figure.name);
        html.element("dd", figure.value, {{"class", figure.value == notMeasured ? "unknown" : "value"}});
        html.element("dd", figure.note, {{"class", !figure.good ? "note" : *figure.good ? "note good" : "note bad"}});
        html.close();
    }
    html.close();
}

void writeMetrics(Markup& html, const SessionView& view) {
    writeLatencies(html, view.metrics);
    html.element("p",
                 "Of successful requests. The range below a percentile is its 95 % interval, between two order "
                 "statistics; there is none where the values are too few.",
                 {{"class", "note"}});
    writeTotals(html, view.metrics);
}

void writeSideBySide(Markup& html, std::span<const SessionView> views) {
    for (std::size_t at = 0; at < views.size(); at += mostColumns) {
        writeColumns(html, views.subspan(at, std::min(mostColumns, views.size() - at)));
    }
}

}  // namespace firsttoken::sessions
