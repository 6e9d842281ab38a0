#include "sessions/report/strip.h"

#include "sessions/report/quantities.h"

namespace firsttoken::sessions {

namespace {

/// Neighbouring buckets with a value, as corners.
struct Steps {
    std::vector<double> edges;  ///< x; one more than values
    std::vector<double> low, high;
};

void appendSteps(Path& path, const std::vector<double>& edges, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0 && values[i] != values[i - 1]) path.verticalTo(values[i]);
        if (i + 1 == values.size() || values[i + 1] != values[i]) path.horizontalTo(edges[i + 1]);
    }
}

std::vector<Steps> runsOf(const Strip& strip, const Timeline& timeline, const Strip::Getter& low,
                          const Strip::Getter& high) {
    std::vector<Steps> runs;
    const double bucketS = secondsOf(timeline.bucketNs);
    bool within = false;
    for (const TimelineBucket& bucket : timeline.buckets) {
        const auto top = high(bucket);
        const auto bottom = low ? low(bucket) : top;
        if (!top || !bottom) {
            within = false;
            continue;
        }
        const double startS = secondsOf(bucket.startNs);
        if (!within) {
            runs.emplace_back();
            runs.back().edges.push_back(strip.x(startS));
        }
        within = true;
        runs.back().edges.push_back(strip.x(startS + bucketS));
        runs.back().low.push_back(strip.y(*bottom));
        runs.back().high.push_back(strip.y(*top));
    }
    return runs;
}

}  // namespace

double Strip::x(double seconds) const { return columns::plotLeft + columns::plotWidth * m_time.place(seconds); }

double Strip::y(double value) const { return m_place.top + m_place.height * (1 - m_value.place(value)); }

void Strip::drawFrame(std::string_view title, std::string_view unit, double tickFactor) const {
    const double bottom = m_place.top + m_place.height;
    for (const double tick : m_time.ticks) drawLine(m_svg, x(tick), m_place.top, x(tick), bottom, "grid");
    for (const double tick : m_value.ticks) {
        drawLine(m_svg, columns::plotLeft, y(tick), columns::plotRight, y(tick), "grid");
        drawText(m_svg, columns::plotLeft - 8, y(tick) + 4, formatRound(tick * tickFactor), "tick", "end");
    }
    drawLine(m_svg, columns::plotLeft, bottom, columns::plotRight, bottom, "base");
    drawText(m_svg, 0, m_place.top + 10, title, "title");
    drawText(m_svg, 0, m_place.top + 25, unit, "muted");
}

void Strip::drawLegend(const std::vector<LegendEntry>& entries) const {
    double line = m_place.top + 8;
    for (const LegendEntry& entry : entries) {
        drawSign(m_svg, columns::legendLeft, line, entry.sign, entry.series);
        drawText(m_svg, columns::legendLeft + 20, line + 4, entry.name, "label");
        line += 15;
        if (entry.value.empty()) continue;
        drawText(m_svg, columns::legendLeft + 20, line + 3, entry.value, "tick");
        line += 16;
    }
}

void Strip::drawEmpty(std::string_view sentence) const {
    drawText(m_svg, columns::plotLeft + columns::plotWidth / 2, m_place.top + m_place.height / 2 + 4, sentence,
             "muted empty", "middle");
}

bool Strip::drawSteps(const Timeline& timeline, const Getter& value, std::string_view cssClass) const {
    Path path;
    for (const Steps& run : runsOf(*this, timeline, {}, value)) {
        path.moveTo(run.edges.front(), run.high.front());
        appendSteps(path, run.edges, run.high);
    }
    drawPath(m_svg, path, cssClass);
    return !path.empty();
}

bool Strip::drawArea(const Timeline& timeline, const Getter& low, const Getter& high, std::string_view cssClass) const {
    Path path;
    for (Steps run : runsOf(*this, timeline, low, high)) {
        path.moveTo(run.edges.front(), run.high.front());
        appendSteps(path, run.edges, run.high);
        path.verticalTo(run.low.back());
        appendSteps(path, {run.edges.rbegin(), run.edges.rend()}, {run.low.rbegin(), run.low.rend()});
        path.close();
    }
    drawPath(m_svg, path, cssClass);
    return !path.empty();
}

}  // namespace firsttoken::sessions
