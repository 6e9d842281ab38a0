#include "sessions/report/quantities.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace firsttoken::sessions {

namespace {

constexpr std::string_view noBreak = "\u00A0";

/// 12345.6 with its digits before the point in groups of three.
std::string grouped(std::string_view text) {
    const std::size_t first = text.starts_with('-') ? 1 : 0;
    const std::size_t point = std::min(text.find('.'), text.size());
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i > first && i < point && (point - i) % 3 == 0) out += ',';
        out += text[i];
    }
    return out;
}

}  // namespace

std::string formatNumber(double value) {
    if (!std::isfinite(value)) return std::string(notMeasured);
    const double size = std::abs(value);
    if (size == 0) return "0";
    if (size >= 1e12 || size < 1e-3) return fmt::format("{:.3g}", value);
    if (size >= 99.95) return grouped(fmt::format("{:.0f}", value));
    if (size >= 9.995) return fmt::format("{:.1f}", value);
    if (size >= 0.9995) return fmt::format("{:.2f}", value);
    return fmt::format("{:.3f}", value);
}

std::string formatRound(double value) {
    std::string text = formatNumber(value);
    if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
    text.resize(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

std::string formatCount(std::int64_t count) { return grouped(std::to_string(count)); }

std::string formatValue(std::optional<double> value, std::string_view unit) {
    if (!value || !std::isfinite(*value)) return std::string(notMeasured);
    std::string text = formatNumber(*value);
    if (!unit.empty()) text.append(noBreak).append(unit);
    return text;
}

std::string formatLimit(double value, std::string_view unit) {
    return fmt::format("{}{}{}", formatRound(value), noBreak, unit);
}

std::string formatShare(std::optional<double> fraction) {
    if (!fraction || !std::isfinite(*fraction)) return std::string(notMeasured);
    return fmt::format("{:.1f}{}%", *fraction * 100, noBreak);
}

std::string formatChange(double fraction) {
    if (!std::isfinite(fraction)) return std::string(notMeasured);
    const double percent = fraction * 100;
    if (std::abs(percent) < 0.05) return fmt::format("0.0{}%", noBreak);
    return fmt::format("{}{}{}%", percent > 0 ? "+" : "−", grouped(fmt::format("{:.1f}", std::abs(percent))), noBreak);
}

std::string formatBytes(std::uint64_t bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < std::size(units)) {
        value /= 1024;
        ++unit;
    }
    return formatValue(value, units[unit]);
}

std::string formatMoment(double unixSeconds) {
    constexpr double year10000 = 253'402'300'800.0;
    if (!(unixSeconds > 0) || unixSeconds >= year10000) return std::string(notMeasured);
    const auto seconds = static_cast<std::time_t>(unixSeconds);
    std::tm parts{};
    if (gmtime_r(&seconds, &parts) == nullptr) return std::string(notMeasured);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string formatSeconds(double seconds) {
    if (!std::isfinite(seconds)) return std::string(notMeasured);
    if (seconds < 120 || seconds > 1e9) return formatValue(seconds, "s");
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    if (whole < 7200) return fmt::format("{}{}min {}{}s", whole / 60, noBreak, whole % 60, noBreak);
    return fmt::format("{}{}h {}{}min", formatCount(whole / 3600), noBreak, whole / 60 % 60, noBreak);
}

double secondsOf(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string formatEstimate(const engine::QuantileEstimate& estimate) {
    if (!estimate.value) return std::string(notMeasured);
    const std::string value = formatNumber(*estimate.value);
    if (!estimate.interval) return fmt::format("{} (not enough data)", value);
    return fmt::format("{} ({} to {})", value, formatNumber(estimate.interval->low),
                       formatNumber(estimate.interval->high));
}

}  // namespace firsttoken::sessions
