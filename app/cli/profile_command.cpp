#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/model_options.h"
#include "app/cli/program.h"
#include "engine/device.h"
#include "engine/model_info.h"
#include "engine/profile.h"
#include "sessions/models/files.h"

namespace firsttoken::app {

namespace {

constexpr std::uint64_t largestProfile = 1ULL << 20;

struct ProfileArguments {
    std::string profile;
    ModelOptions model;
};

/// What is known here; with a model, its facts too.
engine::ProfileFacts machineOnly() {
    engine::ProfileFacts facts;
    facts.cores = engine::machineFacts().cores;
    facts.memoryBytes = engine::availableMemoryBytes();
    return facts;
}

/// On an error its sentence has been printed, and `code` set.
std::optional<engine::ProfileFacts> profileFacts(Console& console, const ModelOptions& options, int& code) {
    auto facts = machineOnly();
    if (!options.model) return facts;
    const ModelChoice choice(console, options.model);
    if (!choice.ok()) {
        code = choice.exitCode();
        return std::nullopt;
    }
    const auto info = engine::readModelInfo(choice.path());
    if (!info) {
        code = console.failInput(info.error());
        return std::nullopt;
    }
    facts.contextLength = info->contextLength;
    facts.weightBytes = info->weightBytes;
    facts.kvBytesPerToken = {info->kvBytesPerToken};
    return facts;
}

Json settings(const engine::Profile& profile) { return Json::parse(engine::toJson(profile), nullptr, false); }

Json profileJson(const engine::Profile& requested, const engine::EffectiveProfile& effective,
                 const std::vector<engine::ProfileError>& errors) {
    auto faults = Json::array();
    for (const auto& error : errors) {
        faults.push_back({{"line", error.line}, {"column", error.column}, {"message", error.message}});
    }
    return {{"name", requested.name},
            {"errors", std::move(faults)},
            {"requested", settings(requested)},
            {"effective", settings(effective.profile)},
            {"changes", changesJson(effective.changes)}};
}

void printChanges(Console& console, const engine::EffectiveProfile& effective) {
    if (!console.chatty()) return;
    for (const auto& change : effective.changes) console.mutter(changeText(change));
}

int runList(Console& console) {
    const auto facts = machineOnly();
    auto list = Json::array();
    std::string lines;
    for (const auto& builtIn : engine::builtInProfiles()) {
        const auto parsed = engine::parseProfile(builtIn.yaml, std::string(builtIn.name));
        auto entry = profileJson(parsed.profile, engine::effectiveProfile(parsed.profile, facts), parsed.errors);
        entry["summary"] = builtIn.summary;
        list.push_back(std::move(entry));
        lines += fmt::format("{:<16}{}\n", builtIn.name, builtIn.summary);
    }
    if (console.json) {
        console.printJson(list);
    } else {
        console.print(lines);
    }
    return Success;
}

int runShow(Console& console, const ProfileArguments& arguments) {
    const auto profile = engine::loadProfile(arguments.profile);
    if (!profile) return console.failInput(profile.error(), "`firsttoken-cli profile list` names the built-in ones");
    int code = Success;
    const auto facts = profileFacts(console, arguments.model, code);
    if (!facts) return code;
    const auto effective = engine::effectiveProfile(*profile, *facts);
    if (console.json) {
        console.printJson(profileJson(*profile, effective, {}));
    } else {
        console.print(engine::toYaml(*profile));
        printChanges(console, effective);
    }
    return Success;
}

int runCheck(Console& console, const ProfileArguments& arguments) {
    const auto& path = arguments.profile;
    const auto text = sessions::readWholeFile(path, largestProfile);
    if (!text) return console.failInput(text.error());
    int code = Success;
    const auto facts = profileFacts(console, arguments.model, code);
    if (!facts) return code;
    const auto parsed = engine::parseProfile(*text, std::filesystem::path(path).stem().string());
    const auto effective = engine::effectiveProfile(parsed.profile, *facts);
    if (console.json) {
        console.printJson(profileJson(parsed.profile, effective, parsed.errors));
    } else {
        for (const auto& error : parsed.errors) {
            console.printLine(fmt::format("{}:{}:{}: {}", path, error.line, error.column, oneLine(error.message)));
        }
        for (const auto& change : effective.changes) console.printLine(changeText(change));
        if (parsed.errors.empty()) console.printLine(path + " is a valid profile");
    }
    if (parsed.errors.empty()) return Success;
    const auto& first = parsed.errors.front();
    return console.fail(BadUsage, fmt::format("{}:{}:{}: {}", path, first.line, first.column, first.message));
}

CLI::App* addLeaf(CLI::App& parent, Program& program, const char* name, const char* description,
                  std::function<int()> run) {
    auto* command = parent.add_subcommand(name, description);
    addCommonOptions(*command, program);
    command->callback([&program, run = std::move(run)] { program.run = run; });
    return command;
}

}  // namespace

void addProfileCommand(CLI::App& app, Program& program) {
    auto* profile = app.add_subcommand("profile", "List, show and check inference profiles");
    profile->require_subcommand(1);
    addCommonOptions(*profile, program);
    addLeaf(*profile, program, "list", "The built-in profiles", [&program] { return runList(program.console); });

    const auto shown = std::make_shared<ProfileArguments>();
    auto* show = addLeaf(*profile, program, "show", "A profile in full, as YAML",
                         [&program, shown] { return runShow(program.console, *shown); });
    show->add_option("profile", shown->profile, "A built-in's name, or a file")->required()->type_name("P");
    addModelOption(*show, shown->model);

    const auto checked = std::make_shared<ProfileArguments>();
    auto* check = addLeaf(*profile, program, "check", "The faults of a profile file, with line and column",
                          [&program, checked] { return runCheck(program.console, *checked); });
    check->add_option("file", checked->profile, "The file")->required()->type_name("FILE");
    addModelOption(*check, checked->model);
}

}  // namespace firsttoken::app
