#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/cli/program.h"
#include "engine/engine.h"
#include "engine/profile.h"
#include "engine/result.h"
#include "sessions/model_library.h"

/// --model and --profile, and what they lead to.
namespace firsttoken::app {

struct ModelOptions {
    std::optional<std::string> model;    ///< a path, or a name of the library
    std::optional<std::string> profile;  ///< a file, or a built-in's name
};
void addModelOption(CLI::App& command, ModelOptions& options);
void addProfileOption(CLI::App& command, ModelOptions& options);

/// Our models folder and `folders`, with the built-in catalogue. Errors: NotFound (no folder is known).
engine::Result<sessions::ModelLibrary> openLibrary(const std::vector<std::string>& folders = {});

/// The file of --model; else of the profile's model.path; else the library's default. On an error the sentence and
/// its advice have been printed, and the result holds the exit code.
class ModelChoice {
public:
    ModelChoice(Console& console, const std::optional<std::string>& given,
                const std::optional<std::string>& ofProfile = std::nullopt);
    bool ok() const { return m_exitCode == Success; }
    int exitCode() const { return m_exitCode; }
    const std::string& path() const { return m_path; }

private:
    std::string m_path;
    int m_exitCode = Success;
};

/// --profile, or the built-in `default`. Errors: as engine::loadProfile.
engine::Result<engine::Profile> requestedProfile(const std::optional<std::string>& nameOrFile);

/// Loads with a progress line at a terminal and tells there what of the profile had to change. On an error the
/// sentence has been printed and `code` set.
std::unique_ptr<engine::Engine> loadEngine(Console& console, const std::string& modelPath,
                                           const engine::Profile& profile, std::stop_token stop, int& code);

/// [{key, requested, effective, reason}]
Json changesJson(const std::vector<engine::ProfileChange>& changes);
/// "key: requested → effective (reason)"
std::string changeText(const engine::ProfileChange& change);

}  // namespace firsttoken::app
