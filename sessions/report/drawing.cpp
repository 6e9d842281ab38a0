#include "sessions/report/drawing.h"

#include <fmt/format.h>

#include <cmath>

namespace firsttoken::sessions {

std::string coordinate(double value) {
    if (!std::isfinite(value)) value = 0;
    const double tenths = std::round(value * 10);
    if (std::fmod(tenths, 10) == 0) return fmt::format("{:.0f}", tenths / 10 + 0.0);
    return fmt::format("{:.1f}", tenths / 10);
}

void Path::moveTo(double x, double y) { m_data += "M" + coordinate(x) + " " + coordinate(y); }
void Path::lineTo(double x, double y) { m_data += "L" + coordinate(x) + " " + coordinate(y); }
void Path::horizontalTo(double x) { m_data += "H" + coordinate(x); }
void Path::verticalTo(double y) { m_data += "V" + coordinate(y); }
void Path::dot(double x, double y) {
    moveTo(x, y);
    m_data += "h0";
}

void drawPath(Markup& svg, const Path& path, std::string_view cssClass) {
    if (!path.empty()) svg.leaf("path", {{"class", cssClass}, {"d", path.data()}});
}

void drawLine(Markup& svg, double x1, double y1, double x2, double y2, std::string_view cssClass) {
    svg.leaf("line", {{"class", cssClass},
                      {"x1", coordinate(x1)},
                      {"y1", coordinate(y1)},
                      {"x2", coordinate(x2)},
                      {"y2", coordinate(y2)}});
}

void drawRectangle(Markup& svg, double x, double y, double width, double height, std::string_view cssClass) {
    svg.leaf("rect", {{"class", cssClass},
                      {"x", coordinate(x)},
                      {"y", coordinate(y)},
                      {"width", coordinate(std::max(width, 0.0))},
                      {"height", coordinate(std::max(height, 0.0))}});
}

void drawText(Markup& svg, double x, double y, std::string_view text, std::string_view cssClass,
              std::string_view anchor) {
    const std::string atX = coordinate(x), atY = coordinate(y);
    if (anchor == "start") {
        svg.element("text", text, {{"class", cssClass}, {"x", atX}, {"y", atY}});
    } else {
        svg.element("text", text, {{"class", cssClass}, {"x", atX}, {"y", atY}, {"text-anchor", anchor}});
    }
}

void drawSign(Markup& svg, double x, double y, Sign sign, std::string_view series) {
    constexpr double width = 14;
    const double middle = x + width / 2;
    Path path;
    switch (sign) {
        case Sign::Line:
        case Sign::Dashed:
            path.moveTo(x, y);
            path.horizontalTo(x + width);
            drawPath(svg, path, fmt::format("line {}{}", series, sign == Sign::Dashed ? " dashed" : ""));
            return;
        case Sign::Area:
        case Sign::Outline:
            drawRectangle(svg, x + 1, y - 5, width - 2, 10,
                          fmt::format("{} {}", sign == Sign::Area ? "area" : "outline", series));
            return;
        case Sign::Dot:
            path.dot(middle, y);
            drawPath(svg, path, fmt::format("dots {}", series));
            return;
        case Sign::Ring:
            svg.leaf("circle", {{"class", fmt::format("ring {}", series)},
                                {"cx", coordinate(middle)},
                                {"cy", coordinate(y)},
                                {"r", "2.6"}});
            return;
        case Sign::Cross:
            path.moveTo(middle - 3.5, y - 3.5);
            path.lineTo(middle + 3.5, y + 3.5);
            path.moveTo(middle - 3.5, y + 3.5);
            path.lineTo(middle + 3.5, y - 3.5);
            drawPath(svg, path, fmt::format("line {}", series));
            return;
    }
}

void drawPatterns(Markup& html) {
    const auto stripes = [&](std::string_view id, std::string_view series, std::string_view turn) {
        html.open("pattern", {{"id", id},
                              {"width", "5"},
                              {"height", "5"},
                              {"patternUnits", "userSpaceOnUse"},
                              {"patternTransform", turn}});
        drawRectangle(html, 0, 0, 5, 5, fmt::format("ground {}", series));
        drawRectangle(html, 0, 0, 2.2, 5, fmt::format("stripe {}", series));
        html.close();
    };
    html.open("svg", {{"class", "patterns"}, {"width", "0"}, {"height", "0"}, {"aria-hidden", "true"}}).open("defs");
    stripes("hatch-prefilling", "prefilling", "rotate(45)");
    stripes("hatch-queued", "queued", "rotate(-45)");
    stripes("hatch-cached", "cached", "rotate(45)");
    html.close().close();
}

}  // namespace firsttoken::sessions
