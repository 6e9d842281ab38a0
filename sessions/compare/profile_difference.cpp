#include "sessions/compare/profile_difference.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "sessions/export/json_limits.h"

namespace firsttoken::sessions {

using Json = nlohmann::ordered_json;

namespace {

constexpr JsonLimits profileLimits{24, 1024};

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Values as JSON, by dotted key, in their order.
struct Settings {
    std::vector<std::string> keys;
    std::map<std::string, std::string> values;

    std::string at(const std::string& key) const {
        const auto found = values.find(key);
        return found == values.end() ? std::string() : found->second;
    }
    void flatten(const Json& value, const std::string& path) {
        if (value.is_object() && !value.empty()) {
            for (const auto& [key, member] : value.items()) flatten(member, path.empty() ? key : path + "." + key);
            return;
        }
        if (values.emplace(path, dumped(value)).second) keys.push_back(path);
    }
};

/// A text that is no profile is one setting, so that a difference shows.
Settings settingsOf(const std::string& profileJson) {
    Settings settings;
    if (profileJson.empty()) return settings;
    const bool fine = checkJson(profileJson, profileLimits).verdict == JsonVerdict::Fine;
    const Json profile = fine ? Json::parse(profileJson, nullptr, false) : Json(profileJson);
    settings.flatten(profile, profile.is_object() && !profile.empty() ? "" : "profile");
    return settings;
}

}  // namespace

std::vector<ProfileDifference> profileDifferences(const SessionHeader& a, const SessionHeader& b) {
    const Settings effectiveA = settingsOf(a.effectiveProfile);
    const Settings effectiveB = settingsOf(b.effectiveProfile);
    const Settings requestedA = settingsOf(a.requestedProfile);
    const Settings requestedB = settingsOf(b.requestedProfile);
    std::vector<std::string> keys;
    std::map<std::string, bool> seen;
    for (const Settings* settings : {&effectiveA, &effectiveB, &requestedA, &requestedB}) {
        for (const std::string& key : settings->keys) {
            if (seen.emplace(key, true).second) keys.push_back(key);
        }
    }
    std::vector<ProfileDifference> differences;
    for (const std::string& key : keys) {
        ProfileDifference difference{key, effectiveA.at(key), effectiveB.at(key), requestedA.at(key),
                                     requestedB.at(key)};
        const bool differs = difference.a != difference.b || difference.requestedA != difference.requestedB;
        if (differs) differences.push_back(std::move(difference));
    }
    return differences;
}

std::string profileValue(const std::string& profileJson, const std::string& key) {
    return settingsOf(profileJson).at(key);
}

bool sameSettings(const std::string& profileA, const std::string& profileB) {
    if (profileA == profileB) return true;
    const auto engineOnly = [](const std::string& profile) {
        Settings settings = settingsOf(profile);
        std::erase_if(settings.values, [](const auto& setting) {
            return setting.first.starts_with("slo.") || setting.first.starts_with("cost.");
        });
        return settings.values;
    };
    return engineOnly(profileA) == engineOnly(profileB);
}

}  // namespace firsttoken::sessions
