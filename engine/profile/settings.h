#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "engine/profile.h"

/// The one table of a profile's keys: what each holds, its range, and its words. Reading, writing and checking
/// all go through it.
namespace firsttoken::engine {

struct BoolField {
    bool& (*at)(Profile&);
};
/// Unset is written as `unset`, and so for the other optional fields; null is read as unset too.
struct OptionalBoolField {
    std::optional<bool>& (*at)(Profile&);
    std::string_view unset;
};
struct IntegerField {
    std::int64_t& (*at)(Profile&);
    std::int64_t least;
    std::int64_t most;
    std::span<const std::int64_t> allowed;  ///< empty: all from least to most
};
struct OptionalIntegerField {
    std::optional<std::int64_t>& (*at)(Profile&);
    std::string_view unset;
    std::int64_t least;
    std::int64_t most;
};
struct SeedField {
    std::optional<std::uint64_t>& (*at)(Profile&);
    std::string_view unset;
};
struct BytesField {
    std::optional<std::uint64_t>& (*at)(Profile&);
    std::string_view unset;
};
struct NumberField {
    double& (*at)(Profile&);
    double least;
    double most;
};
struct OptionalNumberField {
    std::optional<double>& (*at)(Profile&);
    std::string_view unset;
    double least;
    double most;
    bool leastToo;  ///< `least` itself is allowed
};
struct TextField {
    std::optional<std::string>& (*at)(Profile&);
    std::size_t longest;
};
struct ChoiceField {
    std::span<const std::string_view> names;  ///< in the order of the enumerators
    std::size_t (*get)(const Profile&);
    void (*set)(Profile&, std::size_t);
};
struct TargetsField {};    ///< slo.targets
struct LogitBiasField {};  ///< sampling.logit_bias

using Field = std::variant<BoolField, OptionalBoolField, IntegerField, OptionalIntegerField, SeedField, BytesField,
                           NumberField, OptionalNumberField, TextField, ChoiceField, TargetsField, LogitBiasField>;

struct Setting {
    std::string_view section;
    std::string_view key;
    std::string_view help;  ///< unit and meaning, on one line
    Field field;
};

/// All settings, sections together, in the order in which they are written.
std::span<const Setting> settings();
/// Null if there is no such key.
const Setting* findSetting(std::string_view section, std::string_view key);
/// Sections that later issues build: known by name, refused by this build.
std::span<const std::string_view> sectionsToCome();

std::string dottedName(const Setting& setting);
/// The value as it is written in YAML, on one line.
std::string yamlText(const Setting& setting, const Profile& profile);

/// Limits of logit_bias.
inline constexpr std::int64_t mostTokenId = INT32_MAX;
inline constexpr double mostBias = 1000;
inline constexpr std::size_t mostTargets = 64;

}  // namespace firsttoken::engine
