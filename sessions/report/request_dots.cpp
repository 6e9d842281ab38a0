#include "sessions/report/request_dots.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "sessions/report/quantities.h"

namespace firsttoken::sessions {

namespace {

constexpr double dotCell = 1.5;  ///< pixels: dots nearer than this are one
constexpr double crossCell = 9;
constexpr double topMargin = 0;  ///< pixels below the top edge: above every value

struct KindStyle {
    RequestKind kind;
    Sign sign;
    std::string_view series;
    std::string_view name;
};
/// In the order in which they are drawn: of many requests, what matters more lies above.
constexpr std::array<KindStyle, 5> styles{{
    {RequestKind::Unfinished, Sign::Ring, "queued", "unfinished"},
    {RequestKind::Left, Sign::Ring, "queued", "cancelled, left"},
    {RequestKind::Warmup, Sign::Dot, "warmup", "warm-up"},
    {RequestKind::Completed, Sign::Dot, "decoding", "completed"},
    {RequestKind::Failed, Sign::Cross, "failure", "failed"},
}};

/// Which cells of the plot are taken.
class Grid {
public:
    Grid(const Strip::Place& place, double cell)
        : m_top(place.top),
          m_cell(cell),
          m_columns(static_cast<std::size_t>(columns::plotWidth / cell) + 2),
          m_rows(static_cast<std::size_t>(place.height / cell) + 2),
          m_taken(m_rows * m_columns) {}

    /// Moves the point to its cell; false where that is taken.
    bool take(double& x, double& y) {
        const std::size_t column = cellOf(x - columns::plotLeft, m_columns);
        const std::size_t row = cellOf(y - m_top, m_rows);
        if (m_taken[row * m_columns + column]) return false;
        m_taken[row * m_columns + column] = true;
        x = columns::plotLeft + static_cast<double>(column) * m_cell;
        y = m_top + static_cast<double>(row) * m_cell;
        return true;
    }

private:
    std::size_t cellOf(double offset, std::size_t count) const {
        return std::min(static_cast<std::size_t>(std::lround(std::max(offset, 0.0) / m_cell)), count - 1);
    }

    double m_top, m_cell;
    std::size_t m_columns, m_rows;
    std::vector<bool> m_taken;
};

std::string tellRequest(const RequestRecord& request, std::optional<double> ttftMs) {
    std::string told = fmt::format("request {} · planned at {} · TTFT {}", request.number,
                                   formatValue(secondsOf(request.plannedNs), "s"), formatValue(ttftMs, "ms"));
    if (request.reason != engine::FinishReason::None) told += fmt::format(" · {}", toString(request.reason));
    return told;
}

/// Dots, rings or crosses of one kind; returns how many requests they stand for.
class KindPainter {
public:
    KindPainter(const Strip& strip, const SessionView& view, const KindStyle& style)
        : m_strip(strip),
          m_view(view),
          m_style(style),
          m_grid(strip.place(), style.sign == Sign::Cross ? crossCell : dotCell) {
        m_single = view.data->requests.size() <= mostSingleDots;
    }

    std::int64_t draw() {
        std::int64_t count = 0;
        for (const RequestRecord& request : m_view.data->requests) {
            if (m_view.kindOf(request) != m_style.kind) continue;
            ++count;
            const auto ttft = m_view.ttftMs(request);
            const bool atTop = !ttft || m_style.kind == RequestKind::Failed;
            if (atTop && m_style.sign == Sign::Dot) continue;  // nothing was measured
            place(request, ttft, atTop ? m_strip.place().top + topMargin : m_strip.y(*ttft));
        }
        drawPath(m_strip.svg(), m_path,
                 fmt::format("{} {}", m_style.sign == Sign::Cross ? "line" : "dots many", m_style.series));
        return count;
    }

private:
    void place(const RequestRecord& request, std::optional<double> ttft, double y) {
        double x = m_strip.x(secondsOf(request.plannedNs));
        if (!m_single && !m_grid.take(x, y)) return;
        if (m_style.sign == Sign::Cross) {
            constexpr double half = 3.5;
            m_path.moveTo(x - half, y - half);
            m_path.lineTo(x + half, y + half);
            m_path.moveTo(x - half, y + half);
            m_path.lineTo(x + half, y - half);
        } else if (m_single) {
            m_strip.svg().open(
                "circle", {{"class", fmt::format("{} {}", m_style.sign == Sign::Ring ? "ring" : "dot", m_style.series)},
                           {"cx", coordinate(x)},
                           {"cy", coordinate(y)},
                           {"r", "2.6"}});
            m_strip.svg().element("title", tellRequest(request, ttft)).close();
        } else {
            m_path.dot(x, y);
        }
    }

    const Strip& m_strip;
    const SessionView& m_view;
    const KindStyle& m_style;
    Grid m_grid;
    Path m_path;
    bool m_single = true;
};

void drawLimit(const Strip& strip, double limitMs) {
    const double y = strip.y(limitMs);
    drawLine(strip.svg(), columns::plotLeft, y, columns::plotRight, y, "limit");
    const double below = y < strip.place().top + 16 ? 13 : -5;  // beside the line, within the plot
    drawText(strip.svg(), columns::plotRight - 4, y + below, "SLO " + formatLimit(limitMs, "ms"), "limit-label", "end");
}

}  // namespace

void drawRequestDots(const Strip& strip, const SessionView& view) {
    std::vector<LegendEntry> legend;
    for (const KindStyle& style : styles) {
        const std::int64_t count = KindPainter(strip, view, style).draw();
        if (count == 0) continue;
        legend.push_back({style.sign, style.series, std::string(style.name) + " " + formatCount(count), ""});
    }
    if (view.yardstick.slo && view.yardstick.slo->ttftMs) drawLimit(strip, *view.yardstick.slo->ttftMs);
    if (view.data->requests.empty()) strip.drawEmpty("no request");
    strip.drawLegend(legend);
}

}  // namespace firsttoken::sessions
