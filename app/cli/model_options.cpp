#include "app/cli/model_options.h"

#include <fmt/format.h>

#include <filesystem>
#include <mutex>

#include "app/cli/arguments.h"
#include "sessions/models/files.h"

namespace firsttoken::app {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

void addModelOption(CLI::App& command, ModelOptions& options) {
    addText(command, "-m,--model", options.model,
            "A GGUF file, or a name that `models` lists; without it the first chat model there")
        ->type_name("M");
}

void addProfileOption(CLI::App& command, ModelOptions& options) {
    addText(command, "-p,--profile", options.profile,
            "A profile file, or a name that `profile list` lists; without it `default`")
        ->type_name("P");
}

Result<sessions::ModelLibrary> openLibrary(const std::vector<std::string>& folders) {
    auto own = sessions::defaultModelsFolder();
    if (!own) return own.error();
    auto catalogue = sessions::builtInCatalogue();
    if (!catalogue) return catalogue.error();
    std::vector<std::string> all = {*std::move(own)};
    all.insert(all.end(), folders.begin(), folders.end());
    return sessions::ModelLibrary(std::move(all), *std::move(catalogue));
}

ModelChoice::ModelChoice(Console& console, const std::optional<std::string>& given,
                         const std::optional<std::string>& ofProfile) {
    const auto& wanted = given ? given : ofProfile;
    std::error_code unknown;
    const auto facts = std::filesystem::status(wanted.value_or(""), unknown);
    if (std::filesystem::exists(facts) && !std::filesystem::is_directory(facts)) {  // needs no library
        m_path = *wanted;
        return;
    }
    const auto library = openLibrary();
    if (!library) {
        m_exitCode = console.fail(library.error());
        return;
    }
    auto path = wanted ? library->resolve(*wanted) : library->defaultModel();
    if (path) {
        m_path = *std::move(path);
        return;
    }
    std::string advice;
    if (!wanted) advice = "Get one with: firsttoken-cli models fetch";
    if (wanted && library->entry(*wanted) != nullptr) advice = "Get it with: firsttoken-cli models fetch " + *wanted;
    m_exitCode = console.failInput(path.error(), advice);
}

Result<engine::Profile> requestedProfile(const std::optional<std::string>& nameOrFile) {
    return engine::loadProfile(nameOrFile.value_or("default"));
}

std::unique_ptr<engine::Engine> loadEngine(Console& console, const std::string& modelPath,
                                           const engine::Profile& profile, std::stop_token stop, int& code) {
    engine::EngineOptions options;
    options.modelPath = modelPath;
    options.profile = profile;
    options.stop = std::move(stop);
    std::mutex printing;
    const auto name = std::filesystem::path(modelPath).filename().string();
    options.progress = [&](double share) {
        const std::lock_guard lock(printing);
        console.status(fmt::format("Loading {} · {:.0f} %", name, share * 100));
    };
    auto loaded = engine::Engine::load(options);
    console.status({});
    if (!loaded) {
        code = console.failInput(loaded.error());
        return nullptr;
    }
    if (console.chatty()) {
        for (const auto& change : (*loaded)->effective().changes) console.mutter(changeText(change));
    }
    return *std::move(loaded);
}

Json changesJson(const std::vector<engine::ProfileChange>& changes) {
    auto list = Json::array();
    for (const auto& change : changes) {
        list.push_back({{"key", change.key},
                        {"requested", change.requested},
                        {"effective", change.effective},
                        {"reason", change.reason}});
    }
    return list;
}

std::string changeText(const engine::ProfileChange& change) {
    return fmt::format("{}: {} → {} ({})", change.key, change.requested, change.effective, change.reason);
}

}  // namespace firsttoken::app
