#include "sessions/report/axis.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace firsttoken::sessions {

namespace {

constexpr double nearly = 1e-9;  ///< relative: what rounding may add

/// The least 1, 2 or 5 times a power of ten at or above `value` > 0.
double roundUp(double value) {
    const double decade = std::pow(10.0, std::floor(std::log10(value)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * decade >= value * (1 - nearly)) return factor * decade;
    }
    return 10 * decade;
}

double roundDown(double value) {
    const double decade = std::pow(10.0, std::floor(std::log10(value)));
    for (const double factor : {5.0, 2.0}) {
        if (factor * decade <= value * (1 + nearly)) return factor * decade;
    }
    return decade;
}

std::vector<double> logarithmicTicks(double low, double high, std::initializer_list<double> factors, int stride) {
    std::vector<double> ticks;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = static_cast<int>(std::ceil(std::log10(high)));
    for (int decade = first; decade <= last; decade += stride) {
        for (const double factor : factors) {
            const double tick = factor * std::pow(10.0, decade);
            if (tick >= low * (1 - nearly) && tick <= high * (1 + nearly)) ticks.push_back(tick);
        }
    }
    return ticks;
}

}  // namespace

double Axis::place(double value) const {
    if (!(high > low)) return 0;
    const double part =
        logarithmic ? std::log(std::max(value, low) / low) / std::log(high / low) : (value - low) / (high - low);
    return std::clamp(std::isfinite(part) ? part : 0.0, 0.0, 1.0);
}

Axis linearAxis(double greatest) {
    if (!std::isfinite(greatest) || greatest <= 0) greatest = 1;
    const double step = roundUp(greatest / 3);
    Axis axis;
    const int steps = std::max(1, static_cast<int>(std::ceil(greatest / step * (1 - nearly))));
    axis.high = step * steps;
    for (int i = 0; i <= steps; ++i) axis.ticks.push_back(step * i);
    return axis;
}

Axis logarithmicAxis(double least, double greatest) {
    constexpr double smallest = 1e-3, largest = 1e12;
    least = std::clamp(std::isfinite(least) ? least : 1.0, smallest, largest);
    greatest = std::clamp(std::isfinite(greatest) ? greatest : least, least, largest * 10);
    Axis axis;
    axis.logarithmic = true;
    axis.low = roundDown(least);
    axis.high = roundUp(greatest);
    if (axis.high <= axis.low * (1 + nearly)) axis.high = roundUp(axis.low * 1.5);
    constexpr std::size_t most = 4;
    axis.ticks = logarithmicTicks(axis.low, axis.high, {1, 2, 5}, 1);
    if (axis.ticks.size() > most) axis.ticks = logarithmicTicks(axis.low, axis.high, {1, 3}, 1);
    for (int stride = 1; axis.ticks.size() > most; ++stride) {
        axis.ticks = logarithmicTicks(axis.low, axis.high, {1}, stride);
    }
    return axis;
}

Axis exactAxis(double low, double high, int most) {
    Axis axis;
    if (!std::isfinite(low) || !std::isfinite(high) || high <= low) return axis;
    axis.low = low;
    axis.high = high;
    const double step = roundUp((high - low) / most);
    const double first = std::ceil(low / step - nearly);
    for (int i = 0; i <= most && (first + i) * step <= high + step * nearly; ++i) {
        axis.ticks.push_back((first + i) * step);
    }
    return axis;
}

}  // namespace firsttoken::sessions
