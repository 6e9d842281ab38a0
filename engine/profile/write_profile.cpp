#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/profile/scalars.h"
#include "engine/profile/settings.h"

namespace firsttoken::engine {

namespace {

using Json = nlohmann::ordered_json;

template <class Optional>
Json orNull(const Optional& value) {
    return value ? Json(*value) : Json(nullptr);
}

struct JsonValue {
    Profile& profile;

    Json operator()(const BoolField& f) const { return f.at(profile); }
    Json operator()(const OptionalBoolField& f) const { return orNull(f.at(profile)); }
    Json operator()(const IntegerField& f) const { return f.at(profile); }
    Json operator()(const OptionalIntegerField& f) const { return orNull(f.at(profile)); }
    Json operator()(const SeedField& f) const { return orNull(f.at(profile)); }
    Json operator()(const BytesField& f) const { return orNull(f.at(profile)); }
    Json operator()(const NumberField& f) const { return f.at(profile); }
    Json operator()(const OptionalNumberField& f) const { return orNull(f.at(profile)); }
    Json operator()(const TextField& f) const { return orNull(f.at(profile)); }
    Json operator()(const ChoiceField& f) const { return f.names[f.get(profile)]; }
    Json operator()(const TargetsField&) const {
        Json list = Json::array();
        for (const SloTarget& target : profile.slo.targets) list.push_back(sloTargetText(target));
        return list;
    }
    Json operator()(const LogitBiasField&) const {
        Json map = Json::object();
        for (const auto& [id, bias] : profile.sampling.logitBias) map[std::to_string(id)] = bias;
        return map;
    }
};

}  // namespace

std::string toYaml(const Profile& profile) {
    constexpr std::size_t commentColumn = 40;
    std::string text = "# Inference profile\n";
    std::string_view section;
    for (const Setting& setting : settings()) {
        if (setting.section != section) text += std::string(setting.section) + ":\n";
        section = setting.section;
        std::string line = "  " + std::string(setting.key) + ": " + yamlText(setting, profile);
        line.resize(std::max(line.size() + 2, commentColumn), ' ');
        text += line + "# " + std::string(setting.help) + "\n";
    }
    return text;
}

std::string toJson(const Profile& profile) {
    Profile copy = profile;
    Json root = Json::object();
    for (const Setting& setting : settings()) {
        root[std::string(setting.section)][std::string(setting.key)] = std::visit(JsonValue{copy}, setting.field);
    }
    // A path may hold bytes that are no UTF-8; JSON cannot, and shows U+FFFD.
    return root.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status checkSampling(const SamplingSettings& sampling) {
    Profile profile;
    profile.sampling = sampling;
    std::string text = "sampling:\n";
    for (const Setting& setting : settings()) {
        if (setting.section != "sampling") continue;
        text += "  " + std::string(setting.key) + ": " + yamlText(setting, profile) + "\n";
    }
    const ParsedProfile parsed = parseProfile(text);
    if (parsed.errors.empty()) return Done{};
    return Error{ErrorCode::BadInput, parsed.errors.front().message};
}

}  // namespace firsttoken::engine
