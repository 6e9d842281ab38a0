#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/interrupts.h"
#include "app/cli/line_reader.h"
#include "app/cli/model_options.h"
#include "app/cli/program.h"
#include "sessions/model_fetch.h"
#include "sessions/models/fetch_records.h"

namespace firsttoken::app {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using sessions::CatalogueEntry;
using sessions::LibraryModel;
using sessions::ModelKind;
using sessions::ModelLibrary;

namespace {

struct ModelsArguments {
    std::vector<std::string> folders;
    bool catalogue = false;
    std::string fetch;  ///< empty: the default model
    bool yes = false;
};

std::optional<std::string> kindText(const std::optional<ModelKind>& kind) {
    if (!kind) return std::nullopt;
    return std::string(sessions::toString(*kind));
}

Json licenceJson(const sessions::Licence& licence) { return {{"name", licence.name}, {"address", licence.address}}; }

/// False for a model that cannot be read; null where the system does not say how much memory is left.
Json fitsJson(const LibraryModel& model) { return model.fit ? orNull(model.fit->fits()) : Json(false); }

Json modelJson(const LibraryModel& model) {
    Json value = {{"name", model.name}, {"path", model.path}, {"bytes", model.bytes}};
    value["architecture"] = model.info ? Json(model.info->architecture) : Json();
    value["fits"] = fitsJson(model);
    value["needs_bytes"] = model.fit ? Json(model.fit->needsBytes()) : Json();
    value["available_bytes"] = model.fit ? orNull(model.fit->availableBytes) : Json();
    value["format"] = model.info ? Json(model.info->format) : Json();
    value["parameters"] = model.info ? Json(model.info->parameters) : Json();
    value["context_length"] = model.info ? Json(model.info->contextLength) : Json();
    value["chat_template"] = model.info ? Json(model.info->hasChatTemplate) : Json();
    value["kind"] = orNull(kindText(model.kind));
    value["licence"] = model.licence ? licenceJson(*model.licence) : Json();
    value["verified"] = orNull(model.verified);
    value["fetched"] = true;
    value["unsupported"] = model.info && !model.info->unsupported.empty() ? Json(model.info->unsupported) : Json();
    value["error"] = model.fault.empty() ? Json() : Json(model.fault);
    return value;
}

Json entryJson(const CatalogueEntry& entry) {
    Json value = {{"name", entry.name}, {"path", nullptr}, {"bytes", orNull(entry.bytes)}};
    value["architecture"] = entry.architecture;
    value["fits"] = nullptr;
    value["format"] = entry.format;
    value["kind"] = sessions::toString(entry.kind);
    value["licence"] = licenceJson(entry.licence);
    value["fetched"] = false;
    return value;
}

std::string fitText(const LibraryModel& model) {
    if (!model.fault.empty()) return model.fault;
    if (!model.info->unsupported.empty()) return model.info->unsupported;
    const auto fits = model.fit->fits();
    if (!fits) return "needs " + byteText(model.fit->needsBytes());
    return fmt::format("{}: needs {} of {}", *fits ? "fits" : "does not fit", byteText(model.fit->needsBytes()),
                       byteText(*model.fit->availableBytes));
}

std::string modelLines(const LibraryModel& model) {
    std::string facts;
    if (model.info) facts = fmt::format(" · {} · {}", model.info->architecture, model.info->format);
    const auto kind = kindText(model.kind);
    return fmt::format("{}{} · {}{}{}\n    {}\n    {}\n", model.name, facts, byteText(model.bytes),
                       kind ? " · " + *kind : "", model.verified == false ? " · unverified" : "", fitText(model),
                       model.path);
}

/// What the catalogue offers and no listed file is.
std::vector<CatalogueEntry> notFetched(const ModelLibrary& library, const std::vector<LibraryModel>& models) {
    auto entries = library.catalogue();
    std::erase_if(entries, [&](const CatalogueEntry& entry) {
        return std::any_of(models.begin(), models.end(),
                           [&](const LibraryModel& model) { return model.name == entry.name; });
    });
    return entries;
}

int runModels(Console& console, const ModelsArguments& arguments) {
    for (const auto& folder : arguments.folders) {
        std::error_code unknown;
        if (!std::filesystem::is_directory(folder, unknown))
            return console.fail(BadUsage, "there is no folder " + folder);
    }
    const auto library = openLibrary(arguments.folders);
    if (!library) return console.fail(library.error());
    const auto models = library->list();
    const auto offered = notFetched(*library, models);
    if (console.json) {
        auto list = Json::array();
        for (const auto& model : models) list.push_back(modelJson(model));
        if (arguments.catalogue) {
            for (const auto& entry : offered) list.push_back(entryJson(entry));
        }
        console.printJson(list);
        return Success;
    }
    std::string lines;
    for (const auto& model : models) lines += modelLines(model);
    if (models.empty()) lines += fmt::format("There is no model in {} yet.\n", library->ownFolder());
    for (const auto& entry : offered) {
        lines += fmt::format("{} · {} · {} · {} · to be had: firsttoken-cli models fetch {}\n", entry.name,
                             entry.architecture, entry.format, sessions::toString(entry.kind), entry.name);
    }
    console.print(lines);
    return Success;
}

// --- fetch ---

/// At a terminal the person is asked; without one, running the command is the consent.
bool consents(Console& console, const Interrupts& interrupts, const CatalogueEntry& entry, bool yes) {
    console.say(fmt::format("{}: {}, {}", entry.title, entry.licence.name, entry.licence.address));
    if (yes || !console.inputIsTerminal() || !console.errorIsTerminal()) return true;
    std::cerr << "Fetch it under this licence? [y/N] " << std::flush;
    std::string answer;
    const auto read = LineReader(interrupts.descriptor()).read(answer);
    return read == LineReader::Outcome::Line && (answer == "y" || answer == "Y" || answer == "yes");
}

std::string progressText(const CatalogueEntry& entry, const sessions::FetchProgress& progress) {
    auto text = "Fetching " + entry.name;
    if (progress.parts != 0)
        text += fmt::format(" · part {} of {}", std::min(progress.part + 1, progress.parts), progress.parts);
    text += " · " + byteText(progress.bytes);
    if (progress.totalBytes != 0) text += " of " + byteText(progress.totalBytes);
    return text;
}

/// The named entry, or the first chat model whose server answers, else the catalogue's last (which comes as packages).
Result<CatalogueEntry> chooseEntry(Console& console, const ModelLibrary& library, const std::string& name,
                                   std::stop_token stop) {
    if (!name.empty()) {
        if (const auto* entry = library.entry(name)) return *entry;
        std::string names;
        for (const auto& entry : library.catalogue()) names += (names.empty() ? "" : ", ") + entry.name;
        return Error{ErrorCode::NotFound, fmt::format("there is no model {} to fetch; there are {}", name, names)};
    }
    for (const auto& entry : library.catalogue()) {
        if (entry.kind != ModelKind::Chat) continue;
        console.status("Asking for " + entry.name);
        const auto reached = sessions::reachModel(entry, stop);
        if (reached) return entry;
        if (reached.error().code == ErrorCode::Cancelled) return reached.error();
        if (console.errorIsTerminal()) console.mutter(reached.error().message);
    }
    for (const auto& entry : library.catalogue()) {
        if (entry.kind == ModelKind::Base) return entry;
    }
    return Error{ErrorCode::NotFound, "the catalogue has no model that can be reached"};
}

/// The object of the fetched file, as `models` lists it, and what the fetch knows beyond that.
Json fetchedJson(const ModelLibrary& library, const CatalogueEntry& entry, const sessions::FetchedModel& fetched) {
    Json value;
    for (const auto& model : library.list()) {
        if (model.name == entry.name && model.path == fetched.path) value = modelJson(model);
    }
    value["name"] = entry.name;
    value["path"] = fetched.path;
    value["bytes"] = fetched.bytes;
    value["sha256"] = fetched.sha256;
    value["verified"] = fetched.verified;
    value["already_there"] = fetched.alreadyThere;
    return value;
}

int runFetch(Console& console, const ModelsArguments& arguments) {
    const auto library = openLibrary();
    if (!library) return console.fail(library.error());
    Interrupts interrupts;
    const auto entry = chooseEntry(console, *library, arguments.fetch, interrupts.token());
    if (!entry) return console.fail(entry.error());
    if (!consents(console, interrupts, *entry, arguments.yes)) {
        return console.fail(interrupts.requested() ? Interrupted : Failed,
                            "nothing was fetched: the licence was not accepted");
    }
    const auto noted = sessions::recordConsent(library->ownFolder(), *entry);
    if (!noted) return console.fail(Failed, noted.error().message);

    sessions::FetchOptions options;
    options.folder = library->ownFolder();
    options.stop = interrupts.token();
    options.progress = [&](const sessions::FetchProgress& progress) { console.status(progressText(*entry, progress)); };
    const auto fetched = sessions::fetchModel(*entry, options);
    console.status({});
    if (!fetched) {
        if (fetched.error().code == ErrorCode::Cancelled) {
            return console.fail(Interrupted, "the fetch was stopped", "The same command continues it.");
        }
        // Whatever went wrong here, it went wrong while running; only the name was an input.
        const bool network = fetched.error().code == ErrorCode::Io;
        return console.fail(
            Failed, fetched.error().message,
            network ? "Without a network: firsttoken-cli make-model writes a random model to measure with." : "");
    }
    if (console.json) {
        console.printJson(fetchedJson(*library, *entry, *fetched));
        return Success;
    }
    console.printLine(fmt::format("{} · {} · {}\n    {}", entry->name, byteText(fetched->bytes),
                                  fetched->verified ? "verified" : "unverified: no hash of it was known beforehand",
                                  fetched->path));
    return Success;
}

}  // namespace

void addModelsCommand(CLI::App& app, Program& program) {
    auto* command = app.add_subcommand("models", "List the models here; fetch one");
    command->footer("Models lie in $FIRSTTOKEN_MODELS, else $XDG_DATA_HOME/firsttoken/models.");
    const auto arguments = std::make_shared<ModelsArguments>();
    command->add_option("--folder", arguments->folders, "List this folder too; may be given several times")
        ->type_name("DIR")
        ->allow_extra_args(false);
    command->add_flag("--catalogue", arguments->catalogue, "With --json: also what could be fetched");
    addCommonOptions(*command, program);
    command->callback([&program, command, arguments] {
        if (!command->get_subcommands().empty()) return;
        program.run = [&program, arguments] { return runModels(program.console, *arguments); };
    });

    auto* fetch = command->add_subcommand("fetch", "Fetch a model of the catalogue");
    fetch->add_option("name", arguments->fetch, "Its name; without it the first chat model that can be reached")
        ->type_name("NAME");
    fetch->add_flag("-y,--yes", arguments->yes, "Accept the licence without being asked");
    addCommonOptions(*fetch, program);
    fetch->callback([&program, arguments] {
        program.run = [&program, arguments] { return runFetch(program.console, *arguments); };
    });
}

}  // namespace firsttoken::app
