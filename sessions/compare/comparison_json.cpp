#include <cmath>
#include <nlohmann/json.hpp>

#include "sessions/compare/comparison.h"

namespace firsttoken::sessions {

using Json = nlohmann::ordered_json;

namespace {

Json numberOrNull(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

template <class T>
Json orNull(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// A setting's value as it stands in its profile; null where the profile does not have it.
Json settingJson(const std::string& text) {
    if (text.empty()) return nullptr;
    Json value = Json::parse(text, nullptr, false);
    return value.is_discarded() ? Json(text) : value;
}

Json armJson(const ArmFacts& arm) {
    return {{"runs", arm.runs},           {"sessions", arm.sessions}, {"requests", arm.requests},
            {"completed", arm.completed}, {"failed", arm.failed},     {"cancelled", arm.cancelled},
            {"hung_up", arm.hungUp}};
}

Json differenceJson(const ProfileDifference& difference) {
    return {{"key", difference.key},
            {"a", settingJson(difference.a)},
            {"b", settingJson(difference.b)},
            {"requested_a", settingJson(difference.requestedA)},
            {"requested_b", settingJson(difference.requestedB)}};
}

Json metricJson(const MetricComparison& metric) {
    Json interval = nullptr;
    if (metric.interval && std::isfinite(metric.interval->low) && std::isfinite(metric.interval->high)) {
        interval = Json::array({metric.interval->low, metric.interval->high});
    }
    return {{"name", metric.name},
            {"a", numberOrNull(metric.a)},
            {"b", numberOrNull(metric.b)},
            {"difference", numberOrNull(metric.difference)},
            {"interval", interval},
            {"interval_kind", toString(metric.intervalKind)},
            {"verdict", engine::toString(metric.verdict)},
            {"better", engine::toString(metric.direction)},
            {"p", numberOrNull(metric.pValue)},
            {"runs_needed", orNull(metric.runsNeeded)},
            {"note", metric.note}};
}

}  // namespace

std::string toJson(const Comparison& comparison, int indent) {
    Json object;
    object["verdict"] = engine::toString(comparison.verdict);
    object["summary"] = comparison.summary;
    object["primary"] = comparison.primary;
    object["margin"] = comparison.margin;
    object["unlike"] = comparison.unlike;
    object["unlike_reasons"] = comparison.unlikeReasons;
    object["also_worse"] = comparison.alsoWorse;
    object["also_better"] = comparison.alsoBetter;
    object["arm_a"] = armJson(comparison.armA);
    object["arm_b"] = armJson(comparison.armB);
    object["profile_diff"] = Json::array();
    for (const ProfileDifference& difference : comparison.profileDiff) {
        object["profile_diff"].push_back(differenceJson(difference));
    }
    object["metrics"] = Json::array();
    for (const MetricComparison& metric : comparison.metrics) object["metrics"].push_back(metricJson(metric));
    return object.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace firsttoken::sessions
