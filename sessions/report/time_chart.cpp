#include "sessions/report/time_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "sessions/report/mark_lines.h"
#include "sessions/report/quantities.h"
#include "sessions/report/request_dots.h"
#include "sessions/report/strip.h"

namespace firsttoken::sessions {

namespace {

using Bucket = TimelineBucket;
constexpr double gap = 18;
constexpr double timeLabelsHeight = 34;

std::string peakOf(const Timeline& timeline, const Strip::Getter& value, double factor, std::string_view unit) {
    std::optional<double> peak;
    for (const Bucket& bucket : timeline.buckets) {
        if (const auto v = value(bucket)) peak = std::max(peak.value_or(*v), *v);
    }
    if (!peak) return {};
    return unit.empty() ? "peak " + formatRound(*peak * factor) : "peak " + formatLimit(*peak * factor, unit);
}

void drawOutput(const Strip& strip, const Timeline& timeline) {
    const Strip::Getter rate = [](const Bucket& b) { return b.outputTokensPerS; };
    strip.drawFrame("Output", "tok/s");
    if (!strip.drawSteps(timeline, rate, "line decoding")) strip.drawEmpty(notMeasured);
    strip.drawLegend({{Sign::Line, "decoding", "delivered", peakOf(timeline, rate, 1, "tok/s")}});
}

void drawPrompts(const Strip& strip, const Timeline& timeline) {
    const Strip::Getter none = [](const Bucket& b) { return b.promptTokensPerS ? std::optional(0.0) : std::nullopt; };
    const Strip::Getter rate = [](const Bucket& b) { return b.promptTokensPerS; };
    strip.drawFrame("Prompts", "tok/s");
    strip.drawArea(timeline, none, rate, "area prefilling");
    if (!strip.drawSteps(timeline, rate, "line prefilling")) strip.drawEmpty(notMeasured);
    strip.drawLegend({{Sign::Area, "prefilling", "prefilled", peakOf(timeline, rate, 1, "tok/s")}});
}

/// One gauge on another; unknown where either is.
std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
}

void drawSequences(const Strip& strip, const Timeline& timeline) {
    const Strip::Getter none = [](const Bucket& b) { return b.decoding ? std::optional(0.0) : std::nullopt; };
    const Strip::Getter decoding = [](const Bucket& b) { return b.decoding; };
    const Strip::Getter running = [](const Bucket& b) { return sum(b.decoding, b.prefilling); };
    const Strip::Getter all = [](const Bucket& b) { return sum(sum(b.decoding, b.prefilling), b.queued); };
    strip.drawFrame("Sequences", "stacked");
    strip.drawArea(timeline, running, all, "area queued");
    strip.drawArea(timeline, decoding, running, "area prefilling");
    if (!strip.drawArea(timeline, none, decoding, "area decoding")) strip.drawEmpty("no request");
    const auto peak = [&](const Strip::Getter& value) { return peakOf(timeline, value, 1, ""); };
    strip.drawLegend({{Sign::Area, "queued", "queued", peak([](const Bucket& b) { return b.queued; })},
                      {Sign::Area, "prefilling", "prefilling", peak([](const Bucket& b) { return b.prefilling; })},
                      {Sign::Area, "decoding", "decoding", peak(decoding)}});
}

void drawKv(const Strip& strip, const SessionView& view) {
    const Strip::Getter none = [](const Bucket& b) {
        return b.kvReferencedFraction ? std::optional(0.0) : std::nullopt;
    };
    const Strip::Getter referenced = [](const Bucket& b) { return b.kvReferencedFraction; };
    const Strip::Getter used = [](const Bucket& b) { return sum(b.kvReferencedFraction, b.kvCachedFraction); };
    const Strip::Getter whole = [](const Bucket& b) {
        return b.kvReferencedFraction ? std::optional(1.0) : std::nullopt;
    };
    const auto total = view.metrics.kv.total;
    strip.drawFrame("KV blocks", total ? fmt::format("% of {}", formatCount(*total)) : "%", 100);
    strip.drawArea(view.timeline, used, whole, "outline free");
    strip.drawArea(view.timeline, referenced, used, "area cached");
    if (!strip.drawArea(view.timeline, none, referenced, "area referenced")) strip.drawEmpty(notMeasured);
    strip.drawLegend({{Sign::Outline, "free", "free", ""},
                      {Sign::Area, "cached", "cached", ""},
                      {Sign::Area, "referenced", "referenced", peakOf(view.timeline, referenced, 100, "%")}});
}

void drawDevice(const Strip& strip, const Timeline& timeline) {
    const Strip::Getter use = [](const Bucket& b) { return b.deviceUse; };
    const Strip::Getter machine = [](const Bucket& b) { return b.machineCpu; };
    strip.drawFrame("Device", "% in use", 100);
    const bool anyMachine = strip.drawSteps(timeline, machine, "line machine dashed");
    const bool anyUse = strip.drawSteps(timeline, use, "line device");
    if (!anyMachine && !anyUse) strip.drawEmpty(notMeasured);
    strip.drawLegend({{Sign::Line, "device", "engine steps", peakOf(timeline, use, 100, "%")},
                      {Sign::Dashed, "machine", "machine CPU", peakOf(timeline, machine, 100, "%")}});
}

struct GaugeText {
    std::string_view title, unit, series, legend;
};

void drawGauge(const Strip& strip, const Timeline& timeline, const Strip::Getter& value, const GaugeText& text) {
    strip.drawFrame(text.title, text.unit);
    const bool any = strip.drawSteps(timeline, value, fmt::format("line {}", text.series));
    if (!any) strip.drawEmpty(notMeasured);
    strip.drawLegend({{Sign::Line, text.series, std::string(text.legend), peakOf(timeline, value, 1, text.unit)}});
}

struct StripPlan {
    const Axis* value;
    double height;
    std::function<void(const Strip&)> draw;
};

/// From top to bottom.
std::vector<StripPlan> planStrips(const SessionView& view, const ChartScales& scales) {
    const Timeline& timeline = view.timeline;
    std::vector<StripPlan> plans;
    plans.push_back({&scales.ttft, 140, [&](const Strip& strip) {
                         strip.drawFrame("TTFT", "ms, log scale");
                         drawRequestDots(strip, view);
                     }});
    plans.push_back({&scales.outputRate, 72, [&](const Strip& strip) { drawOutput(strip, timeline); }});
    plans.push_back({&scales.promptRate, 72, [&](const Strip& strip) { drawPrompts(strip, timeline); }});
    plans.push_back({&scales.sequences, 96, [&](const Strip& strip) { drawSequences(strip, timeline); }});
    plans.push_back({&scales.share, 80, [&](const Strip& strip) { drawKv(strip, view); }});
    plans.push_back({&scales.share, 72, [&](const Strip& strip) { drawDevice(strip, timeline); }});
    if (scales.hasGbPerS) {
        plans.push_back({&scales.gbPerS, 60, [&](const Strip& strip) {
                             const auto rate = [](const Bucket& b) { return b.achievedGbPerS; };
                             drawGauge(strip, timeline, rate, {"Memory", "GB/s", "rate", "during steps"});
                         }});
    }
    if (scales.hasWatts) {
        plans.push_back({&scales.watts, 60, [&](const Strip& strip) {
                             const auto watts = [](const Bucket& b) { return b.watts; };
                             drawGauge(strip, timeline, watts, {"Power", "W", "power", "processor"});
                         }});
    }
    return plans;
}

void drawTimeLabels(Markup& svg, const Axis& time, double top) {
    for (const double tick : time.ticks) {
        const double x = columns::plotLeft + columns::plotWidth * time.place(tick);
        drawText(svg, x, top + 14, formatRound(tick), "tick", "middle");
    }
    drawText(svg, columns::plotLeft + columns::plotWidth / 2, top + 30, "seconds since the start of the session",
             "muted", "middle");
}

std::string describe(const SessionView& view) {
    const SessionMetrics& metrics = view.metrics;
    return fmt::format(
        "{} requests over {}. TTFT p50 {}, p95 {}. Output {}. KV peak {}. The table below holds the values.",
        formatCount(static_cast<std::int64_t>(view.data->requests.size())), formatSeconds(view.endS - view.startS),
        formatValue(metrics.ttft.p50.value, "ms"), formatValue(metrics.ttft.p95.value, "ms"),
        formatValue(metrics.outputTokensPerS, "tok/s"), formatShare(metrics.kv.peakFraction));
}

}  // namespace

void drawTimeChart(Markup& html, const SessionView& view, const ChartScales& scales, std::string_view id) {
    const std::vector<StripPlan> plans = planStrips(view, scales);
    const double top = markLabelsHeight(view) + 4;
    double bottom = top - gap;
    for (const StripPlan& plan : plans) bottom += plan.height + gap;
    const std::string titleId = fmt::format("{}-title", id), textId = fmt::format("{}-text", id);
    html.open("svg", {{"class", "chart"},
                      {"viewBox", fmt::format("0 0 {:.0f} {:.0f}", columns::width, bottom + timeLabelsHeight)},
                      {"role", "img"},
                      {"aria-labelledby", titleId + " " + textId}});
    html.element("title", view.name() + ": the session over time", {{"id", titleId}});
    html.element("desc", describe(view), {{"id", textId}});
    drawWarmup(html, view, scales.time, top, bottom);
    double stripTop = top;
    for (const StripPlan& plan : plans) {
        plan.draw(Strip(html, scales.time, *plan.value, {stripTop, plan.height}));
        stripTop += plan.height + gap;
    }
    drawMarks(html, view, scales.time, top, bottom);
    drawTimeLabels(html, scales.time, bottom);
    html.close();
    if (view.data->requests.size() > mostSingleDots) {
        html.element("p", "So many requests that those which would lie on one another share a dot, a ring or a cross.",
                     {{"class", "note"}});
    }
}

}  // namespace firsttoken::sessions
