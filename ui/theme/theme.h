#pragma once

#include <QRgb>
#include <array>

#include "engine/events.h"

/// Colours and measures of the window. Plain constants; any thread.
namespace firsttoken::ui {

/// The colours of one appearance. Each has one use; data takes its colours from Series.
struct Theme {
    QRgb surface;
    QRgb raised;  ///< bars, cards and panels on the surface
    QRgb border;
    QRgb text;
    QRgb muted;   ///< secondary text
    QRgb accent;  ///< what can be acted on
    QRgb good;
    QRgb bad;
    QRgb caution;
    bool operator==(const Theme&) const = default;
};

inline constexpr Theme kLightTheme = {
    .surface = 0xFFFFFFFF,
    .raised = 0xFFF6F7F9,
    .border = 0xFFD8DCE2,
    .text = 0xFF1B1F24,
    .muted = 0xFF57606A,
    .accent = 0xFF0B63C5,
    .good = 0xFF1A7F37,
    .bad = 0xFFC62828,
    .caution = 0xFF9A6700,
};
inline constexpr Theme kDarkTheme = {
    .surface = 0xFF15181C,
    .raised = 0xFF1D2126,
    .border = 0xFF343A42,
    .text = 0xFFE6E9ED,
    .muted = 0xFF9AA4AF,
    .accent = 0xFF6CB2FF,
    .good = 0xFF56D364,
    .bad = 0xFFFF7B72,
    .caution = 0xFFE3B341,
};

/// Colours of data, the same in both appearances, told apart also by the common colour-blind eyes. On a light surface
/// some are too pale to stand alone: a series always has a second sign (dash, marker, hatch).
enum class Series { Blue, Orange, Green, Vermilion, Purple, Sky, Grey };
inline constexpr std::array kAllSeries = {Series::Blue,   Series::Orange, Series::Green, Series::Vermilion,
                                          Series::Purple, Series::Sky,    Series::Grey};
QRgb seriesColour(Series series);

/// One meaning everywhere. A finished request has no colour of its own: its end reason decides.
Series seriesOf(engine::RequestState state);
inline constexpr Series kKvReferencedSeries = Series::Blue;
inline constexpr Series kKvCachedSeries = Series::Sky;
inline constexpr Series kBaselineSeries = Series::Grey;
inline constexpr Series kFailureSeries = Series::Vermilion;

/// Distances in device-independent pixels: multiples of 4.
inline constexpr int kInnerSpacing = 8;
inline constexpr int kGroupSpacing = 16;
inline constexpr int kPageMargin = 16;
inline constexpr int kControlHeight = 28;  ///< also the least height of what can be hit
inline constexpr int kCornerRadius = 4;

}  // namespace firsttoken::ui
