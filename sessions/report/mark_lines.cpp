#include "sessions/report/mark_lines.h"

#include <algorithm>
#include <array>

#include "sessions/report/drawing.h"
#include "sessions/report/quantities.h"
#include "sessions/report/strip.h"

namespace firsttoken::sessions {

namespace {

constexpr std::size_t mostMarks = 200;
constexpr std::size_t labelRows = 3;
constexpr double rowHeight = 15;
constexpr std::size_t labelCharacters = 28;
constexpr double characterWidth = 6.4;  ///< of a label's type, about: labels may come near, not over each other

double xOf(const Axis& time, std::int64_t atNs) {
    return columns::plotLeft + columns::plotWidth * time.place(secondsOf(atNs));
}

std::string_view kindText(MarkKind kind) {
    switch (kind) {
        case MarkKind::WarmupEnd:
            return "warm-up end";
        case MarkKind::SteadyEnd:
            return "steady end";
        case MarkKind::LoadEnd:
            return "load end";
        case MarkKind::ProfileChange:
            return "profile change";
        case MarkKind::Cancel:
            return "cancelled";
        case MarkKind::Chat:
            return "chat";
        case MarkKind::Note:
            return "note";
    }
    return "mark";
}

}  // namespace

std::string markText(const MarkRecord& mark) {
    std::string text(kindText(mark.kind));
    if (!mark.text.empty()) text += ": " + mark.text;
    return text;
}

double markLabelsHeight(const SessionView& view) {
    return rowHeight * static_cast<double>(std::min(view.data->marks.size(), labelRows)) + 6;
}

void drawWarmup(Markup& svg, const SessionView& view, const Axis& time, double top, double bottom) {
    const auto& marks = view.data->marks;
    const auto end =
        std::find_if(marks.begin(), marks.end(), [](const auto& m) { return m.kind == MarkKind::WarmupEnd; });
    if (end == marks.end()) return;
    drawRectangle(svg, columns::plotLeft, top, xOf(time, end->atNs) - columns::plotLeft, bottom - top, "warmup-ground");
}

void drawMarks(Markup& svg, const SessionView& view, const Axis& time, double top, double bottom) {
    std::array<double, labelRows> takenTo{};  ///< right end of the last label of each row
    takenTo.fill(columns::plotLeft - 1000);
    std::size_t count = 0;
    for (const MarkRecord& mark : view.data->marks) {
        if (++count > mostMarks) break;
        const double x = xOf(time, mark.atNs);
        const std::string text = markText(mark);
        svg.open("g").element("title", text + " at " + formatValue(secondsOf(mark.atNs), "s"));
        const std::string label = shortened(text, labelCharacters);
        const double half = characterWidth * static_cast<double>(std::min(label.size(), labelCharacters + 1)) / 2;
        const double middle = std::clamp(x, half, columns::width - half);
        const auto row = std::find_if(takenTo.begin(), takenTo.end(), [&](double end) { return end < middle - half; });
        double lineTop = top;
        if (row != takenTo.end()) {
            *row = middle + half + 4;
            lineTop = top - 5 - rowHeight * static_cast<double>(row - takenTo.begin());
            drawText(svg, middle, lineTop - 3, label, "mark-label", "middle");
        }
        drawLine(svg, x, lineTop, x, bottom, "mark");
        svg.close();
    }
}

}  // namespace firsttoken::sessions
