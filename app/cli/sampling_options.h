#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/profile.h"
#include "engine/result.h"

/// The sampling settings by name, for the options of `chat` and for its /set.
namespace firsttoken::app {

struct SamplingKey {
    std::string_view name;  ///< as in a profile: top_p
    std::string_view description;
};
std::span<const SamplingKey> samplingKeys();

/// Sets one key from text; "none" takes a seed away. `shownName` is how the person named it.
/// Errors: NotFound (no such key), BadInput (value).
engine::Status setSampling(engine::SamplingSettings& settings, std::string_view key, std::string_view shownName,
                           std::string_view text);
/// The key's value as text.
std::string samplingText(const engine::SamplingSettings& settings, std::string_view key);

/// What the person gave on the command line, laid over a profile's sampling later.
class SamplingOptions {
public:
    /// Adds --temperature, --top-p, … The object must outlive the parse.
    void addTo(CLI::App& command);
    engine::SamplingSettings over(engine::SamplingSettings profile) const;

private:
    std::vector<std::pair<std::string, std::string>> m_given;  ///< key, checked text
};

}  // namespace firsttoken::app
