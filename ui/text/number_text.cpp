#include "ui/text/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace firsttoken::ui {
namespace {

constexpr QChar kSpace(0x00A0);  // no-break

bool isKnown(const std::optional<double>& value) { return value && std::isfinite(*value); }

/// Rounds half away from zero, as people do, and never to a negative zero.
double rounded(double value, int decimals) {
    const double scale = std::pow(10.0, decimals);
    const double scaled = std::round(value * scale) / scale;
    return std::isfinite(scaled) ? scaled + 0.0 : value;
}

constexpr double kBinaryStep = 1024.0;

/// Index into B, KiB, MiB …: the largest unit that leaves at least 1.
int binaryUnit(std::uint64_t bytes) {
    int unit = 0;
    for (auto rest = bytes; rest >= 1024 && unit < 5; rest /= 1024) ++unit;
    return unit;
}

double inUnit(std::uint64_t bytes, int unit) { return static_cast<double>(bytes) / std::pow(kBinaryStep, unit); }

}  // namespace

NumberText::NumberText(QLocale locale) : m_locale(std::move(locale)) {}

QString NumberText::fixed(double value, int decimals) const {
    return m_locale.toString(rounded(value, decimals), 'f', decimals);
}

QString NumberText::significant(double value) const {
    // The digits follow from the rounded value: 9.996 is 10.0, not 10.00.
    int decimals = 2;
    while (decimals > 0 && std::abs(rounded(value, decimals)) >= std::pow(10.0, 3 - decimals)) --decimals;
    return fixed(value, decimals);
}

QString NumberText::milliseconds(std::optional<double> value) const {
    if (!isKnown(value)) return notMeasured();
    return tr("%1 ms").arg(significant(*value)).replace(u' ', kSpace);
}

QString NumberText::duration(std::optional<double> milliseconds) const {
    if (!isKnown(milliseconds)) return notMeasured();
    const double value = *milliseconds;
    if (std::abs(rounded(value, 0)) < 1000.0) return tr("%1 ms").arg(fixed(value, 0)).replace(u' ', kSpace);
    const double seconds = value / 1000.0;
    if (std::abs(rounded(seconds, 1)) < 60.0) return tr("%1 s").arg(fixed(seconds, 1)).replace(u' ', kSpace);
    const double whole = rounded(seconds, 0);
    if (std::abs(whole) < 3600.0) {
        return tr("%1 min %2 s")
            .arg(fixed(std::trunc(whole / 60.0), 0), fixed(std::abs(std::fmod(whole, 60.0)), 0))
            .replace(u' ', kSpace);
    }
    const double minutes = rounded(seconds / 60.0, 0);
    return tr("%1 h %2 min")
        .arg(fixed(std::trunc(minutes / 60.0), 0), fixed(std::abs(std::fmod(minutes, 60.0)), 0))
        .replace(u' ', kSpace);
}

QString NumberText::tokensPerSecond(std::optional<double> value) const {
    if (!isKnown(value)) return notMeasured();
    return tr("%1 tok/s").arg(significant(*value)).replace(u' ', kSpace);
}

QString NumberText::bytes(std::optional<std::uint64_t> value) const {
    if (!value) return notMeasured();
    const int unit = binaryUnit(*value);
    const std::array units = {tr("%1 B"), tr("%1 KiB"), tr("%1 MiB"), tr("%1 GiB"), tr("%1 TiB"), tr("%1 PiB")};
    const double amount = inUnit(*value, unit);
    const int decimals = unit == 0 || rounded(amount, 1) >= 10.0 ? 0 : 1;
    return units[static_cast<std::size_t>(unit)].arg(fixed(amount, decimals)).replace(u' ', kSpace);
}

QString NumberText::bytesOf(std::optional<std::uint64_t> part, std::optional<std::uint64_t> whole) const {
    if (!part || !whole) return notMeasured();
    const int unit = binaryUnit(std::max(*part, *whole));
    const std::array units = {tr("%1 of %2 B"),   tr("%1 of %2 KiB"), tr("%1 of %2 MiB"),
                              tr("%1 of %2 GiB"), tr("%1 of %2 TiB"), tr("%1 of %2 PiB")};
    const int decimals = unit == 0 ? 0 : 1;
    return units[static_cast<std::size_t>(unit)]
        .arg(fixed(inUnit(*part, unit), decimals), fixed(inUnit(*whole, unit), decimals))
        .replace(u' ', kSpace);
}

QString NumberText::count(std::optional<std::int64_t> value) const {
    return value ? m_locale.toString(static_cast<qlonglong>(*value)) : notMeasured();
}

QString NumberText::percent(std::optional<double> fraction) const {
    if (!isKnown(fraction)) return notMeasured();
    return tr("%1 %").arg(significant(*fraction * 100.0)).replace(u' ', kSpace);
}

QString NumberText::column(std::optional<double> value, int decimals) const {
    return isKnown(value) ? fixed(*value, decimals) : notMeasured();
}

QString NumberText::notMeasured() const { return tr("not measured"); }

}  // namespace firsttoken::ui
