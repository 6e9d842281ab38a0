#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/statistics.h"

/// Numbers as the report writes them: with units, three significant digits, thousands apart. What is unknown is said.
namespace firsttoken::sessions {

constexpr std::string_view notMeasured = "not measured";

std::string formatNumber(double value);
/// Without zeros at its end: for values that were chosen to be round (ticks, limits), and counts.
std::string formatRound(double value);
std::string formatCount(std::int64_t count);
/// `unit` follows after a space that does not break; empty: no unit.
std::string formatValue(std::optional<double> value, std::string_view unit);
/// formatRound() with a unit.
std::string formatLimit(double value, std::string_view unit);
std::string formatShare(std::optional<double> fraction);  ///< 0.413: "41.3 %"
std::string formatChange(double fraction);                ///< with its sign: "+4.2 %"
std::string formatBytes(std::uint64_t bytes);
std::string formatMoment(double unixSeconds);  ///< "2026-01-31 12:04:10 UTC"
std::string formatSeconds(double seconds);     ///< "12.4 s", "3 min 20 s"
double secondsOf(std::int64_t ns);

/// "212 (198 to 240)"; "212 (not enough data)"; "not measured". Without the unit.
std::string formatEstimate(const engine::QuantileEstimate& estimate);

}  // namespace firsttoken::sessions
