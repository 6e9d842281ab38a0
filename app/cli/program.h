#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "app/cli/console.h"

namespace firsttoken::app {

/// What the commands share. main() makes one; a command's parse leaves what is to be done in `run`.
struct Program {
    Console console;
    std::string database;      ///< --db; empty: the default one
    std::function<int()> run;  ///< returns the exit code
};

/// Options that every command takes: --json, --db, --verbose.
void addCommonOptions(CLI::App& command, Program& program);

// One file a command.
void addChatCommand(CLI::App& app, Program& program);
void addEvaluateCommand(CLI::App& app, Program& program);
void addTokenizeCommand(CLI::App& app, Program& program);
void addRenderCommand(CLI::App& app, Program& program);
void addBenchCommand(CLI::App& app, Program& program);
void addMakeModelCommand(CLI::App& app, Program& program);
void addModelsCommand(CLI::App& app, Program& program);
void addProfileCommand(CLI::App& app, Program& program);
void addLoadCommand(CLI::App& app, Program& program);
void addSessionsCommand(CLI::App& app, Program& program);
void addCompareCommand(CLI::App& app, Program& program);
void addReportCommand(CLI::App& app, Program& program);

}  // namespace firsttoken::app
