#include "app/cli/sampling_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "app/cli/arguments.h"

namespace firsttoken::app {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::SamplingSettings;
using engine::Status;

namespace {

constexpr std::array keys = {
    SamplingKey{"temperature", "0: the likeliest token each time"},
    SamplingKey{"top_p", "Keep the likeliest tokens up to this share"},
    SamplingKey{"top_k", "Keep the K likeliest tokens; 0: all"},
    SamplingKey{"min_p", "Keep tokens of at least this share of the likeliest"},
    SamplingKey{"typical_p", "Keep the most typical tokens up to this share"},
    SamplingKey{"repetition_penalty", "Divide the logits of tokens seen; 1: off"},
    SamplingKey{"frequency_penalty", "Lower tokens by how often they came"},
    SamplingKey{"presence_penalty", "Lower tokens that came"},
    SamplingKey{"seed", "The same seed, the same text"},
};

struct RealKey {
    std::string_view name;
    double SamplingSettings::*value;
    double least;
    double most;
};
/// The ranges are those of a profile.
constexpr std::array realKeys = {
    RealKey{"temperature", &SamplingSettings::temperature, 0, 100},
    RealKey{"top_p", &SamplingSettings::topP, 0, 1},
    RealKey{"min_p", &SamplingSettings::minP, 0, 1},
    RealKey{"typical_p", &SamplingSettings::typicalP, 0, 1},
    RealKey{"repetition_penalty", &SamplingSettings::repetitionPenalty, 0, 100},
    RealKey{"frequency_penalty", &SamplingSettings::frequencyPenalty, -100, 100},
    RealKey{"presence_penalty", &SamplingSettings::presencePenalty, -100, 100},
};
constexpr WholeRange topKRange = {0, std::numeric_limits<std::int32_t>::max()};

const RealKey* realKey(std::string_view name) {
    const auto found =
        std::find_if(realKeys.begin(), realKeys.end(), [&](const RealKey& key) { return key.name == name; });
    return found == realKeys.end() ? nullptr : &*found;
}

std::string optionName(std::string_view key) {
    auto name = "--" + std::string(key);
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

}  // namespace

std::span<const SamplingKey> samplingKeys() { return keys; }

Status setSampling(SamplingSettings& settings, std::string_view key, std::string_view shownName,
                   std::string_view text) {
    if (const auto* real = realKey(key)) {
        const auto value = parseReal(shownName, text, real->least, real->most);
        if (!value) return value.error();
        settings.*(real->value) = *value;
        return Done{};
    }
    if (key == "top_k") {
        const auto value = parseWhole(shownName, text, topKRange);
        if (!value) return value.error();
        settings.topK = *value;
        return Done{};
    }
    if (key != "seed") return Error{ErrorCode::NotFound, fmt::format("there is no setting {}", shownName)};
    if (text == "none") {
        settings.seed.reset();
        return Done{};
    }
    const auto value = parseSeed(shownName, text);
    if (!value) return value.error();
    settings.seed = *value;
    return Done{};
}

std::string samplingText(const SamplingSettings& settings, std::string_view key) {
    if (const auto* real = realKey(key)) return fmt::format("{}", settings.*(real->value));
    if (key == "top_k") return std::to_string(settings.topK);
    return settings.seed ? std::to_string(*settings.seed) : "none";
}

void SamplingOptions::addTo(CLI::App& command) {
    for (const auto& key : keys) {
        const auto option = optionName(key.name);
        const auto take = [this, name = std::string(key.name), option](const std::string& text) {
            SamplingSettings scratch;
            const auto checked = setSampling(scratch, name, option, text);
            if (!checked) throw CLI::ValidationError(option, checked.error().message);
            m_given.emplace_back(name, text);
        };
        command.add_option_function<std::string>(option, take, std::string(key.description))
            ->type_name(key.name == "seed" || key.name == "top_k" ? "N" : "X")
            ->group("Sampling");
    }
}

SamplingSettings SamplingOptions::over(SamplingSettings profile) const {
    for (const auto& [key, text] : m_given) [[maybe_unused]] const auto set = setSampling(profile, key, key, text);
    return profile;
}

}  // namespace firsttoken::app
