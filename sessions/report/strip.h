#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sessions/metrics/session_metrics.h"
#include "sessions/report/axis.h"
#include "sessions/report/drawing.h"
#include "sessions/report/markup.h"

namespace firsttoken::sessions {

/// Columns of a chart over time, in pixels: title and ticks | plot | legend. Equal for every strip.
namespace columns {
constexpr double plotLeft = 118, plotWidth = 742, plotRight = plotLeft + plotWidth;
constexpr double legendLeft = plotRight + 12, width = 1000;
}  // namespace columns

struct LegendEntry {
    Sign sign = Sign::Line;
    std::string_view series;  ///< CSS class of the colour
    std::string name;
    std::string value;  ///< below the name, muted: a peak, a count; may be empty
};

/// One chart of the stack: a plot on the shared time axis with a value axis of its own.
class Strip {
public:
    struct Place {
        double top = 0;
        double height = 80;
    };
    using Getter = std::function<std::optional<double>(const TimelineBucket&)>;

    /// `time` in seconds. `svg` and both axes outlive the strip.
    Strip(Markup& svg, const Axis& time, const Axis& value, const Place& place)
        : m_svg(svg), m_time(time), m_value(value), m_place(place) {}

    double x(double seconds) const;
    double y(double value) const;
    Markup& svg() const { return m_svg; }
    const Place& place() const { return m_place; }

    /// Grid, tick labels, title and unit. Before the series. `tickFactor`: 100 for shares drawn in percent.
    void drawFrame(std::string_view title, std::string_view unit, double tickFactor = 1) const;
    void drawLegend(const std::vector<LegendEntry>& entries) const;
    /// One muted sentence in an empty plot.
    void drawEmpty(std::string_view sentence) const;
    /// A line of steps; nothing where the value is unknown. True if anything was drawn.
    bool drawSteps(const Timeline& timeline, const Getter& value, std::string_view cssClass) const;
    /// The area between two lines of steps.
    bool drawArea(const Timeline& timeline, const Getter& low, const Getter& high, std::string_view cssClass) const;

private:
    Markup& m_svg;
    const Axis& m_time;
    const Axis& m_value;
    Place m_place;
};

}  // namespace firsttoken::sessions
