#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/metrics_text.h"
#include "app/cli/program.h"
#include "app/cli/store_options.h"
#include "sessions/export/session_csv.h"
#include "sessions/export/session_json.h"
#include "sessions/metrics/session_metrics.h"
#include "sessions/models/files.h"

namespace firsttoken::app {

using engine::Error;
using engine::ErrorCode;
using sessions::SessionData;
using sessions::SessionId;
using sessions::SessionStore;
using sessions::SessionSummary;

namespace {

constexpr WholeRange idRange = {1, std::numeric_limits<std::int64_t>::max()};
constexpr std::uint64_t largestImport = 4ULL << 30;

struct SessionsArguments {
    std::int64_t id = 0;
    std::string format = "json";
    std::string table = "requests";
    std::string file;
    std::string search;
    std::string text;
};

Json summaryJson(const SessionSummary& session) {
    return {{"id", session.id},
            {"kind", sessions::toString(session.kind)},
            {"started_at", session.startedAt},
            {"ended_at", orNull(session.endedAt)},
            {"state", sessions::toString(session.state)},
            {"model", session.modelName},
            {"model_path", session.modelPath},
            {"profile", session.profileName},
            {"requests", session.requests},
            {"title", session.title},
            {"note", session.note},
            {"starred", session.starred}};
}

std::string startText(double unixSeconds) {
    const auto seconds = static_cast<std::time_t>(unixSeconds);
    std::tm local{};
    localtime_r(&seconds, &local);
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
}

std::string summaryLine(const SessionSummary& session) {
    return fmt::format("{:>5}  {}  {:<4}  {:<11}  {:>6}  {}{} · {}\n", session.id, startText(session.startedAt),
                       sessions::toString(session.kind), sessions::toString(session.state), session.requests,
                       session.starred ? "★ " : "", oneLine(session.title), oneLine(session.modelName));
}

int runList(Console& console, const SessionStore& store, const SessionsArguments& arguments) {
    const auto list = store.list(arguments.search);
    if (!list) return console.fail(list.error());
    if (console.json) {
        auto array = Json::array();
        for (const auto& session : *list) array.push_back(summaryJson(session));
        console.printJson(array);
        return Success;
    }
    for (const auto& session : *list) console.print(summaryLine(session));
    if (list->empty())
        console.printLine(arguments.search.empty() ? "No session is stored yet." : "No session matches.");
    return Success;
}

int runShow(Console& console, const SessionStore& store, const SessionsArguments& arguments) {
    const auto session = store.load(arguments.id);
    if (!session) return console.failInput(session.error());
    const auto metrics = sessions::summarise(*session);
    if (console.json) {
        console.printJson(sessionJson(*session, metrics));
        return Success;
    }
    const auto& header = session->header;
    console.print(fmt::format("{} {} · {} · {} · {}\n{} · {} · profile {} · {} {}\n", sessions::toString(header.kind),
                              header.id, oneLine(header.title), sessions::toString(header.state),
                              startText(header.startedAt), oneLine(header.modelName), oneLine(header.modelFormat),
                              oneLine(header.profileName), header.isa, header.arithmetic));
    if (!header.note.empty()) console.printLine(terminalSafe(header.note));
    if (!header.failure.empty()) console.printLine(oneLine(header.failure));
    console.print(metricsText(metrics));
    return Success;
}

/// To --output, beside and renamed, or to stdout.
int deliver(Console& console, const std::string& text, const std::string& file) {
    if (file.empty()) {
        console.print(text);
        return Success;
    }
    const std::string part = file + ".part";
    {
        std::ofstream out(part, std::ios::binary | std::ios::trunc);
        out.write(text.data(), static_cast<std::streamsize>(text.size()));
        out.flush();
        if (!out) {
            std::remove(part.c_str());
            return console.fail(Failed, "cannot write " + file);
        }
    }
    std::error_code fault;
    std::filesystem::rename(part, file, fault);
    if (fault) return console.fail(Failed, "cannot write " + file + ": " + fault.message());
    if (console.json) console.printJson({{"path", file}, {"bytes", text.size()}});
    return Success;
}

int runExport(Console& console, const SessionStore& store, const SessionsArguments& arguments) {
    const auto session = store.load(arguments.id);
    if (!session) return console.failInput(session.error());
    if (arguments.format == "json") return deliver(console, sessions::toJson(*session) + "\n", arguments.file);
    const auto csv =
        arguments.table == "samples" ? sessions::samplesToCsv(*session) : sessions::requestsToCsv(*session);
    return deliver(console, csv, arguments.file);
}

int runImport(Console& console, SessionStore& store, const SessionsArguments& arguments) {
    const auto text = sessions::readWholeFile(arguments.file, largestImport);
    if (!text) return console.failInput(text.error());
    const auto session = sessions::fromJson(*text);
    if (!session) return console.fail(BadUsage, arguments.file + ": " + session.error().message);
    const auto id = store.insert(*session);
    if (!id) return console.fail(id.error());
    if (console.json) {
        console.printJson({{"session", *id}, {"requests", session->requests.size()}});
    } else {
        console.printLine(fmt::format("Stored as session {}.", *id));
    }
    return Success;
}

int done(Console& console, const engine::Status& status, const SessionsArguments& arguments, std::string_view what) {
    if (!status) return console.failInput(status.error());
    if (console.json) {
        console.printJson({{"session", arguments.id}, {"done", what}});
    } else {
        console.printLine(fmt::format("Session {}: {}.", arguments.id, what));
    }
    return Success;
}

using Action = std::function<int(Console&, SessionStore&, const SessionsArguments&)>;

CLI::App* addAction(CLI::App& sessions, Program& program, const std::shared_ptr<SessionsArguments>& arguments,
                    const std::string& name, const std::string& description, Action action) {
    auto* command = sessions.add_subcommand(name, description);
    addCommonOptions(*command, program);
    command->callback([&program, arguments, action = std::move(action)] {
        program.run = [&program, arguments, action] {
            int code = Success;
            const auto store = requireStore(program.console, program.database, code);
            return store == nullptr ? code : action(program.console, *store, *arguments);
        };
    });
    return command;
}

void addId(CLI::App& command, SessionsArguments& arguments) {
    addWhole(command, "ID", arguments.id, idRange, "The session's number")->required();
}

}  // namespace

void addSessionsCommand(CLI::App& app, Program& program) {
    auto* command = app.add_subcommand("sessions", "Find, show, export and delete stored sessions");
    command->require_subcommand(1);
    addCommonOptions(*command, program);
    const auto arguments = std::make_shared<SessionsArguments>();

    auto* list = addAction(*command, program, arguments, "list", "All sessions, newest first", runList);
    list->add_option("--search", arguments->search, "Only those whose title, note or text has these words");

    addId(*addAction(*command, program, arguments, "show", "What a session measured", runShow), *arguments);

    auto* exports = addAction(*command, program, arguments, "export", "A session as JSON or CSV", runExport);
    addId(*exports, *arguments);
    exports->add_option("--format", arguments->format, "json (complete, can be imported) or csv")
        ->check(CLI::IsMember({"json", "csv"}));
    exports->add_option("--table", arguments->table, "Of csv: requests or samples")
        ->check(CLI::IsMember({"requests", "samples"}));
    exports->add_option("--output", arguments->file, "Instead of stdout")->type_name("FILE");

    auto* imports = addAction(*command, program, arguments, "import", "Store an exported session", runImport);
    imports->add_option("FILE", arguments->file, "JSON of sessions export")->required();

    addId(*addAction(*command, program, arguments, "delete", "Delete a session and free its space",
                     [](Console& console, SessionStore& store, const SessionsArguments& given) {
                         return done(console, store.remove(given.id), given, "deleted");
                     }),
          *arguments);

    auto* rename = addAction(*command, program, arguments, "rename", "Give a session another title",
                             [](Console& console, SessionStore& store, const SessionsArguments& given) {
                                 return done(console, store.rename(given.id, given.text), given, "renamed");
                             });
    addId(*rename, *arguments);
    rename->add_option("TITLE", arguments->text)->required();

    auto* note = addAction(*command, program, arguments, "note", "Write a note to a session",
                           [](Console& console, SessionStore& store, const SessionsArguments& given) {
                               return done(console, store.setNote(given.id, given.text), given, "noted");
                           });
    addId(*note, *arguments);
    note->add_option("TEXT", arguments->text)->required();
}

}  // namespace firsttoken::app
