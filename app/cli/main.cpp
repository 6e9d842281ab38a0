#include <algorithm>
#include <csignal>
#include <exception>
#include <new>

#include "app/cli/arguments.h"
#include "app/cli/program.h"

namespace firsttoken::app {

void addCommonOptions(CLI::App& command, Program& program) {
    command.add_flag("--json", program.console.json, "Print JSON on stdout");
    command.add_option("--db", program.database, "The database of sessions")->type_name("FILE");
    command.add_flag("-v,--verbose", program.console.verbose, "Tell on stderr what a terminal would be told");
}

namespace {

/// The innermost command that was named.
const CLI::App& namedCommand(const CLI::App& app) {
    const auto* command = &app;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    return *command;
}

std::string fullName(const CLI::App& command) {
    if (command.get_parent() == nullptr) return command.get_name();
    return fullName(*command.get_parent()) + " " + command.get_name();
}

/// CLI11's sentence: its first line, without the option's name where our own sentence begins with it.
std::string sentence(const CLI::ParseError& error) {
    std::string text = error.what();
    text = text.substr(0, text.find('\n'));
    const auto colon = text.find(": ");
    if (colon != text.npos && text.compare(colon + 2, colon, text, 0, colon) == 0) text.erase(0, colon + 2);
    return text;
}

/// Exit code of a parse that did not succeed, or is answered at once (help, version).
int endParse(const CLI::App& app, const CLI::ParseError& error, Console& console) {
    if (dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr) {
        console.printLine("firsttoken-cli " FIRSTTOKEN_VERSION);
        return console.finish(Success);
    }
    const auto& command = namedCommand(app);
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
        console.print(command.help(command.get_parent() == nullptr ? "" : fullName(*command.get_parent())));
        return console.finish(Success);
    }
    return console.fail(BadUsage, sentence(error), "See: " + fullName(command) + " --help");
}

int runProgram(int argc, char** argv) {
    Program program;
    CLI::App app("Chat with local language models and measure the engine that runs them.", "firsttoken-cli");
    app.set_version_flag("--version", "firsttoken-cli " FIRSTTOKEN_VERSION);
    app.footer("Exit codes: 0 done; 1 failed while running; 2 bad input or usage; 130 interrupted.");
    app.require_subcommand(1);
    addCommonOptions(app, program);
    addChatCommand(app, program);
    addEvaluateCommand(app, program);
    addTokenizeCommand(app, program);
    addRenderCommand(app, program);
    addBenchCommand(app, program);
    addMakeModelCommand(app, program);
    addModelsCommand(app, program);
    addProfileCommand(app, program);
    addLoadCommand(app, program);
    addSessionsCommand(app, program);
    addCompareCommand(app, program);
    addReportCommand(app, program);
    try {
        app.parse(reversedArguments(argc, argv));
    } catch (const CLI::ParseError& error) {
        return endParse(app, error, program.console);
    }
    try {
        return program.console.finish(program.run());
    } catch (const std::bad_alloc&) {
        return program.console.fail(Failed, "the memory is not enough");
    } catch (const std::exception& fault) {
        return program.console.fail(Failed, fault.what());
    }
}

}  // namespace

}  // namespace firsttoken::app

int main(int argc, char** argv) {
    // A closed pipe shows as a failed write; no signal ends the program between two statements.
    std::signal(SIGPIPE, SIG_IGN);
    return firsttoken::app::runProgram(argc, argv);
}
