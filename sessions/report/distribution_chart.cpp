#include "sessions/report/distribution_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sessions/report/axis.h"
#include "sessions/report/drawing.h"
#include "sessions/report/quantities.h"

namespace firsttoken::sessions {

namespace {

constexpr double panelWidth = 484, panelHeight = 172, panelGap = 32;
constexpr double left = 44, right = 32, plotTop = 28, plotHeight = 112;
constexpr double plotWidth = panelWidth - left - right;
constexpr std::size_t cellsAcross = static_cast<std::size_t>(plotWidth * 2);  ///< half a pixel each
constexpr LatencyMetric metrics[] = {LatencyMetric::Ttft, LatencyMetric::Itl, LatencyMetric::Tpot, LatencyMetric::E2e};

std::string_view explain(LatencyMetric metric) {
    switch (metric) {
        case LatencyMetric::Ttft:
            return "TTFT: planned arrival to first text";
        case LatencyMetric::Itl:
            return "ITL: gap between deltas";
        case LatencyMetric::Tpot:
            return "TPOT: time per further token";
        default:
            return "E2E: planned arrival to last text";
    }
}

std::optional<double> limitOf(const SessionView& view, LatencyMetric metric) {
    if (!view.yardstick.slo) return std::nullopt;
    if (metric == LatencyMetric::Ttft) return view.yardstick.slo->ttftMs;
    if (metric == LatencyMetric::Tpot) return view.yardstick.slo->tpotMs;
    return metric == LatencyMetric::E2e ? view.yardstick.slo->e2eMs : std::nullopt;
}

Axis axisOf(const std::vector<std::vector<double>>& samples, std::optional<double> limit) {
    std::optional<double> low = limit, high = limit;
    for (const auto& values : samples) {
        for (const double value : values) {
            if (value > 0) low = std::min(low.value_or(value), value);
            high = std::max(high.value_or(value), value);
        }
    }
    return logarithmicAxis(low.value_or(1), high.value_or(1000));
}

/// Which line a session gets: colours repeat after seven, the dashes after four.
std::string seriesOf(std::size_t index) { return fmt::format("line session-{} dash-{}", index % 7, index % 4); }

class Panel {
public:
    Panel(Markup& svg, double x, double y, Axis axis) : m_svg(svg), m_x(x), m_y(y), m_axis(std::move(axis)) {}

    void frame(std::string_view title) const {
        drawText(m_svg, m_x, m_y + 12, title, "title");
        for (const double share : {0.0, 0.5, 0.95, 1.0}) {
            drawLine(m_svg, m_x + left, yOf(share), m_x + left + plotWidth, yOf(share), share == 0 ? "base" : "grid");
            // 95 and 100 % lie near each other: the label of the upper one is left to its line.
            if (share == 1.0) continue;
            drawText(m_svg, m_x + left - 6, yOf(share) + 4, fmt::format("{:.0f} %", share * 100), "tick", "end");
        }
        for (const double tick : m_axis.ticks) {
            drawLine(m_svg, xOf(tick), m_y + plotTop, xOf(tick), yOf(0), "grid");
            drawText(m_svg, xOf(tick), yOf(0) + 15, formatLimit(tick, "ms"), "tick", "middle");
        }
    }
    void curve(const std::vector<double>& values, const std::string& cssClass) const {
        if (values.empty()) return;
        std::vector<std::size_t> counts(cellsAcross + 1);
        for (const double value : values) {
            ++counts[static_cast<std::size_t>(std::lround(m_axis.place(value) * static_cast<double>(cellsAcross)))];
        }
        Path path;
        std::size_t below = 0;
        for (std::size_t cell = 0; cell < counts.size(); ++cell) {
            if (counts[cell] == 0) continue;
            const double x = m_x + left + static_cast<double>(cell) / 2;
            if (path.empty()) path.moveTo(x, yOf(0));
            path.horizontalTo(x);
            below += counts[cell];
            path.verticalTo(yOf(static_cast<double>(below) / static_cast<double>(values.size())));
        }
        path.horizontalTo(m_x + left + plotWidth);
        drawPath(m_svg, path, cssClass);
    }
    void limit(double limitMs) const {
        drawLine(m_svg, xOf(limitMs), m_y + plotTop, xOf(limitMs), yOf(0), "limit");
        const bool atRight = m_axis.place(limitMs) > 0.75;
        drawText(m_svg, xOf(limitMs) + (atRight ? -5 : 5), yOf(0) - 6, "SLO " + formatLimit(limitMs, "ms"),
                 "limit-label", atRight ? "end" : "start");
    }
    void sentence(std::string_view text) const {
        drawText(m_svg, m_x + left + plotWidth / 2, yOf(0.5) + 4, text, "muted empty", "middle");
    }

private:
    double xOf(double value) const { return m_x + left + plotWidth * m_axis.place(value); }
    double yOf(double share) const { return m_y + plotTop + plotHeight * (1 - share); }

    Markup& m_svg;
    double m_x, m_y;
    Axis m_axis;
};

void drawPanel(Markup& svg, std::span<const SessionView> views, LatencyMetric metric, double x, double y) {
    std::vector<std::vector<double>> samples;
    for (const SessionView& view : views) samples.push_back(latencyValues(*view.data, metric));
    const auto limit = limitOf(views.front(), metric);
    const Panel panel(svg, x, y, axisOf(samples, limit));
    panel.frame(explain(metric));
    if (limit) panel.limit(*limit);
    bool any = false;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        panel.curve(samples[i], seriesOf(i));
        any = any || !samples[i].empty();
    }
    if (!any) panel.sentence(notMeasured);
}

void drawNames(Markup& svg, std::span<const SessionView> views, double y) {
    constexpr std::size_t nameCharacters = 60;
    for (std::size_t i = 0; i < views.size(); ++i) {
        const double x = i % 2 == 0 ? 0 : panelWidth + panelGap;
        const double line = y + 10 + 18 * static_cast<double>(i / 2);
        Path path;
        path.moveTo(x, line);
        path.horizontalTo(x + 28);
        drawPath(svg, path, seriesOf(i));
        drawText(svg, x + 36, line + 4, shortened(views[i].name(), nameCharacters), "label");
    }
}

}  // namespace

void drawDistributions(Markup& html, std::span<const SessionView> views, std::string_view id) {
    if (views.empty()) return;
    const double namesHeight = views.size() > 1 ? 18.0 * static_cast<double>((views.size() + 1) / 2) + 14 : 0;
    const double height = namesHeight + 2 * panelHeight + 8;
    const std::string titleId = fmt::format("{}-title", id), textId = fmt::format("{}-text", id);
    html.open("svg", {{"class", "chart"},
                      {"viewBox", fmt::format("0 0 {:.0f} {:.0f}", 2 * panelWidth + panelGap, height)},
                      {"role", "img"},
                      {"aria-labelledby", titleId + " " + textId}});
    html.element("title", "How the latencies are distributed", {{"id", titleId}});
    html.element("desc",
                 "Share of the values at or below each latency, log scale. The table of metrics holds percentiles.",
                 {{"id", textId}});
    if (views.size() > 1) drawNames(html, views, 0);
    for (std::size_t i = 0; i < std::size(metrics); ++i) {
        drawPanel(html, views, metrics[i], i % 2 == 0 ? 0 : panelWidth + panelGap,
                  namesHeight + (panelHeight + 8) * static_cast<double>(i / 2));
    }
    html.close();
}

}  // namespace firsttoken::sessions
