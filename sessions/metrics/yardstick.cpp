#include <cmath>
#include <nlohmann/json.hpp>

#include "sessions/export/json_limits.h"
#include "sessions/metrics/session_metrics.h"

namespace firsttoken::sessions {

using Json = nlohmann::json;

namespace {

constexpr JsonLimits profileLimits{24, 1024};
constexpr std::size_t mostTargets = 64;

std::optional<double> positive(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number()) return std::nullopt;
    const double value = found->get<double>();
    return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

/// The profile's own reader knows how a target is written. A JSON text is a YAML one too.
std::optional<engine::SloTarget> targetOf(const Json& text) {
    const std::string quoted = text.dump(-1, ' ', true, Json::error_handler_t::replace);
    engine::ParsedProfile parsed = engine::parseProfile("slo: {targets: [" + quoted + "]}");
    if (!parsed.errors.empty() || parsed.profile.slo.targets.size() != 1) return std::nullopt;
    return std::move(parsed.profile.slo.targets.front());
}

engine::Profile::Slo sloOf(const Json& object) {
    engine::Profile::Slo slo;
    slo.ttftMs = positive(object, "ttft_ms");
    slo.tpotMs = positive(object, "tpot_ms");
    slo.e2eMs = positive(object, "e2e_ms");
    slo.targets.clear();
    const auto targets = object.find("targets");
    if (targets == object.end() || !targets->is_array()) return slo;
    for (const Json& text : *targets) {
        const auto target = text.is_string() ? targetOf(text) : std::nullopt;
        if (target && slo.targets.size() < mostTargets) slo.targets.push_back(*target);
    }
    return slo;
}

}  // namespace

Yardstick yardstickOf(const std::string& profileJson) {
    Yardstick yardstick;
    if (checkJson(profileJson, profileLimits).verdict != JsonVerdict::Fine) return yardstick;
    const Json profile = Json::parse(profileJson, nullptr, false);
    if (!profile.is_object()) return yardstick;
    const auto section = [&profile](const char* name) -> const Json* {
        const auto found = profile.find(name);
        return found != profile.end() && found->is_object() ? &*found : nullptr;
    };
    if (const Json* slo = section("slo")) yardstick.slo = sloOf(*slo);
    if (const Json* cost = section("cost")) {
        yardstick.cost.perHour = positive(*cost, "per_hour");
        const auto currency = cost->find("currency");
        if (currency != cost->end() && currency->is_string()) yardstick.cost.currency = currency->get<std::string>();
    }
    if (const Json* response = section("response")) {
        const auto streaming = response->find("streaming");
        if (streaming != response->end() && streaming->is_boolean()) yardstick.streaming = streaming->get<bool>();
    }
    return yardstick;
}

}  // namespace firsttoken::sessions
