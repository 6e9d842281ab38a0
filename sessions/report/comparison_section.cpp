#include "sessions/report/comparison_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sessions/report/axis.h"
#include "sessions/report/drawing.h"
#include "sessions/report/quantities.h"
#include "sessions/report/session_view.h"

namespace firsttoken::sessions {

namespace {

std::string_view verdictClass(Verdict verdict) {
    switch (verdict) {
        case Verdict::Better:
            return "good";
        case Verdict::Worse:
            return "bad";
        case Verdict::Refused:
            return "caution";
        default:
            return "";
    }
}

std::string_view verdictSign(Verdict verdict) {
    switch (verdict) {
        case Verdict::Better:
            return "✓ ";
        case Verdict::Worse:
            return "✗ ";
        case Verdict::Equivalent:
            return "= ";
        case Verdict::Undecided:
            return "? ";
        case Verdict::Refused:
            return "⊘ ";
    }
    return "";
}

std::string verdictText(Verdict verdict) { return fmt::format("{}{}", verdictSign(verdict), toString(verdict)); }

std::string valueText(const std::optional<double>& value, const MetricName& name) {
    return name.isFraction ? formatShare(value) : formatValue(value, name.unit);
}

std::string changeText(const std::optional<double>& difference) {
    if (!difference || !std::isfinite(*difference)) return "–";
    const char* arrow = std::abs(*difference) < 0.0005 ? "" : *difference > 0 ? "▲ " : "▼ ";
    return arrow + formatChange(*difference);
}

/// An interval around zero, with the margin as its ground.
void drawInterval(Markup& html, const MetricComparison& metric, double margin, double reach) {
    constexpr double width = 180, height = 18;
    Axis axis;
    axis.low = -reach;
    axis.high = reach;
    const auto x = [&](double change) { return 2 + (width - 4) * axis.place(change); };
    html.open("td", {{"class", "interval-cell"}});
    if (!metric.interval) {
        html.element("span", metric.intervalKind == IntervalKind::None ? "no interval" : notMeasured,
                     {{"class", "note"}});
        html.close();
        return;
    }
    const std::string told =
        fmt::format("{} to {}", formatChange(metric.interval->low), formatChange(metric.interval->high));
    html.open("svg",
              {{"class", "interval"}, {"viewBox", fmt::format("0 0 {:.0f} {:.0f}", width, height)}, {"role", "img"}});
    html.element("title", "95 % interval of the change: " + told);
    drawRectangle(html, x(-margin), 2, x(margin) - x(-margin), height - 4, "margin-ground");
    drawLine(html, x(0), 1, x(0), height - 1, "baseline");
    drawLine(html, x(metric.interval->low), height / 2, x(metric.interval->high), height / 2, "line decoding");
    if (metric.difference) {
        Path dot;
        dot.dot(x(*metric.difference), height / 2);
        drawPath(html, dot, "dots decoding");
    }
    html.close();
    html.element("span", told + (metric.intervalKind == IntervalKind::WithinRun ? " *" : ""), {{"class", "note"}});
    html.close();
}

/// How far the bars reach: what holds most of them, 5 % to 50 %. Longer ones end at the edge.
double reachOf(const Comparison& comparison) {
    std::vector<double> ends{comparison.margin * 1.5};
    for (const MetricComparison& metric : comparison.metrics) {
        if (!metric.interval) continue;
        ends.push_back(std::max(std::abs(metric.interval->low), std::abs(metric.interval->high)));
    }
    return std::clamp(engine::percentile(ends, 0.75).value_or(0.1) * 1.1, 0.05, 0.5);
}

void writeDifferences(Markup& html, const Comparison& comparison) {
    html.element("h3", "What differed");
    for (const std::string& reason : comparison.unlikeReasons) html.element("p", reason, {{"class", "caution"}});
    if (comparison.profileDiff.empty()) {
        html.element("p", "Nothing in the profiles.");
        return;
    }
    html.open("div", {{"class", "scroll"}}).open("table").open("thead").open("tr");
    for (const char* name : {"key", "baseline", "this"}) html.element("th", name, {{"scope", "col"}});
    html.close().close().open("tbody");
    const auto side = [&](const std::string& effective, const std::string& requested) {
        html.open("td").text(effective.empty() ? "not set" : shortened(effective, 400));
        if (requested != effective && !requested.empty()) {
            html.element("span", "requested: " + shortened(requested, 400), {{"class", "note"}});
        }
        html.close();
    };
    for (const ProfileDifference& difference : comparison.profileDiff) {
        html.open("tr").element("th", difference.key, {{"scope", "row"}});
        side(difference.a, difference.requestedA);
        side(difference.b, difference.requestedB);
        html.close();
    }
    html.close().close().close();
}

/// The runs still needed say it all; a note does where they do not.
void writeVerdict(Markup& html, const MetricComparison& metric) {
    html.open("td").element("span", verdictText(metric.verdict), {{"class", verdictClass(metric.verdict)}});
    if (metric.runsNeeded && *metric.runsNeeded > 0) {
        html.element("span", fmt::format("{} more runs an arm", formatCount(*metric.runsNeeded)), {{"class", "note"}});
    } else if (!metric.note.empty()) {
        html.element("span", metric.note, {{"class", "note"}});
    }
    html.close();
}

void writeMoves(Markup& html, const Comparison& comparison) {
    html.element("h3", "What moved").open("div", {{"class", "scroll"}}).open("table").open("thead").open("tr");
    const std::pair<const char*, const char*> heads[] = {{"metric", ""},        {"baseline", "number"},
                                                         {"this", "number"},    {"change", "number"},
                                                         {"95 % interval", ""}, {"verdict", ""}};
    for (const auto& [name, cssClass] : heads) html.element("th", name, {{"scope", "col"}, {"class", cssClass}});
    html.close().close().open("tbody");
    const double reach = reachOf(comparison);
    for (const MetricComparison& metric : comparison.metrics) {
        const MetricName name = metricName(metric.name);
        html.open("tr", {{"class", metric.name == comparison.primary ? "primary" : ""}});
        html.element("th", name.name, {{"scope", "row"}});
        html.element("td", valueText(metric.a, name), {{"class", "number"}});
        html.element("td", valueText(metric.b, name), {{"class", "number"}});
        html.element("td", changeText(metric.difference), {{"class", "number"}});
        drawInterval(html, metric, comparison.margin, reach);
        writeVerdict(html, metric);
        html.close();
    }
    html.close().close().close();
    html.element("p",
                 fmt::format("▲ more, ▼ less; the ground of a bar is the margin, ± {}: differences within it do not "
                             "matter.",
                             formatShare(comparison.margin)),
                 {{"class", "note"}});
    const auto within = [](const MetricComparison& metric) { return metric.intervalKind == IntervalKind::WithinRun; };
    if (std::none_of(comparison.metrics.begin(), comparison.metrics.end(), within)) return;
    html.element("p",
                 "* from blocks of requests within one run: blind to what differs from run to run, so no verdict rests "
                 "on it.",
                 {{"class", "note"}});
}

std::string armText(std::string_view what, std::string_view name, const ArmFacts& arm) {
    return fmt::format("{}: {} · {} · {} of {} requests completed", what, name,
                       arm.runs == 1 ? std::string("1 run") : formatCount(arm.runs) + " runs",
                       formatCount(arm.completed), formatCount(arm.requests));
}

}  // namespace

void writeComparison(Markup& html, const Comparison& comparison, std::string_view armA, std::string_view armB) {
    html.open("section").element("h2", "Comparison");
    html.open("p", {{"class", "verdict"}});
    html.element("strong", verdictText(comparison.verdict), {{"class", verdictClass(comparison.verdict)}});
    // The sentence begins with the verdict, which stands there already.
    std::string_view sentence = comparison.summary;
    if (sentence.starts_with(toString(comparison.verdict))) sentence.remove_prefix(toString(comparison.verdict).size());
    html.text(sentence.starts_with(' ') ? "" : " ").text(sentence).close();
    html.element("p", armText("Baseline", armA, comparison.armA)).element("p", armText("This", armB, comparison.armB));
    writeDifferences(html, comparison);
    writeMoves(html, comparison);
    html.close();
}

}  // namespace firsttoken::sessions
