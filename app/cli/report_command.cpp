#include <chrono>
#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/program.h"
#include "app/cli/store_options.h"
#include "sessions/report.h"

namespace firsttoken::app {

namespace {

struct ReportArguments {
    std::vector<std::int64_t> ids;
    std::string output;
};

int runReport(Program& program, const ReportArguments& arguments) {
    Console& console = program.console;
    int code = Success;
    const auto store = requireStore(console, program.database, code);
    if (store == nullptr) return code;
    std::vector<sessions::SessionData> data;
    for (const auto id : arguments.ids) {
        auto session = store->load(id);
        if (!session) return console.failInput(session.error());
        data.push_back(std::move(session).value());
    }
    sessions::ReportOptions options;
    options.writtenAt = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    const auto written = sessions::writeReport(arguments.output, data, options);
    if (!written) return console.fail(written.error());
    if (console.json) {
        console.printJson({{"path", arguments.output}, {"sessions", arguments.ids}});
    } else if (console.chatty()) {
        console.mutter("Written to " + arguments.output);
    }
    return Success;
}

}  // namespace

void addReportCommand(CLI::App& app, Program& program) {
    auto* command = app.add_subcommand("report", "Write sessions as one HTML file");
    const auto arguments = std::make_shared<ReportArguments>();
    command->add_option("ID", arguments->ids, "Sessions; two arms are compared")
        ->required()
        ->check(CLI::PositiveNumber);
    command->add_option("--output", arguments->output, "The report")->required()->type_name("FILE.html");
    addCommonOptions(*command, program);
    command->callback(
        [&program, arguments] { program.run = [&program, arguments] { return runReport(program, *arguments); }; });
}

}  // namespace firsttoken::app
