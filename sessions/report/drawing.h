#pragma once

#include <string>
#include <string_view>

#include "sessions/report/markup.h"

/// SVG in parts that the report's charts share. Units are the pixels of a chart that is drawn at its own size.
namespace firsttoken::sessions {

/// With at most one decimal: a tenth of a pixel is not seen.
std::string coordinate(double value);

/// The data of one <path>. Steps need one number a corner.
class Path {
public:
    void moveTo(double x, double y);
    void lineTo(double x, double y);
    void horizontalTo(double x);
    void verticalTo(double y);
    void close() { m_data += 'Z'; }
    /// A dot, where the line's ends are round.
    void dot(double x, double y);
    bool empty() const { return m_data.empty(); }
    const std::string& data() const { return m_data; }

private:
    std::string m_data;
};

void drawPath(Markup& svg, const Path& path, std::string_view cssClass);
void drawLine(Markup& svg, double x1, double y1, double x2, double y2, std::string_view cssClass);
void drawRectangle(Markup& svg, double x, double y, double width, double height, std::string_view cssClass);
/// `anchor`: start, middle or end.
void drawText(Markup& svg, double x, double y, std::string_view text, std::string_view cssClass,
              std::string_view anchor = "start");

/// What stands for a series in a legend.
enum class Sign { Line, Dashed, Area, Outline, Dot, Ring, Cross };
/// 14 wide, centred at height y. `series`: the class with its colour.
void drawSign(Markup& svg, double x, double y, Sign sign, std::string_view series);

/// Patterns that the charts' hatched areas name; once in a document, before the charts.
void drawPatterns(Markup& html);

}  // namespace firsttoken::sessions
