#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/chat_session.h"
#include "app/cli/interrupts.h"
#include "app/cli/model_options.h"
#include "app/cli/program.h"
#include "app/cli/sampling_options.h"
#include "app/cli/store_options.h"
#include "sessions/models/files.h"

namespace firsttoken::app {

namespace {

/// Base models seldom end by themselves; without a limit of the person's a reply of theirs has this one.
constexpr std::int64_t baseModelTokens = 256;
constexpr std::uint64_t largestTemplate = 4ULL << 20;

struct ChatArguments {
    ModelOptions model;
    std::optional<std::string> prompt;
    std::optional<std::string> system;
    std::optional<std::string> templateFile;
    std::vector<std::string> stops;
    std::int64_t maxTokens = 0;
    SamplingOptions sampling;
};

sessions::ChatSettings chatSettings(const ChatArguments& arguments, const engine::Engine& engine,
                                    const std::string& templateText) {
    const auto& profile = engine.effective().profile;
    sessions::ChatSettings settings;
    settings.sampling = arguments.sampling.over(profile.sampling);
    settings.stopStrings = arguments.stops;
    settings.trim = profile.model.trim;
    settings.chatTemplate = templateText.empty() ? profile.model.chatTemplate.value_or("") : templateText;
    settings.maxTokens = arguments.maxTokens;
    if (settings.maxTokens == 0 && settings.chatTemplate.empty() && !engine.text().hasOwnTemplate()) {
        const auto context = profile.model.maxContextTokens.value_or(engine.model().contextLength);
        settings.maxTokens = std::clamp<std::int64_t>(context / 2, 1, baseModelTokens);
    }
    return settings;
}

void introduce(Console& console, const engine::Engine& engine, const sessions::ChatSettings& settings) {
    const auto& model = engine.model();
    const auto context = engine.effective().profile.model.maxContextTokens.value_or(model.contextLength);
    console.mutter(fmt::format("{} · {} · context {} · profile {} · {} {} · /help lists the commands", model.name,
                               model.format, grouped(static_cast<std::uint64_t>(context)),
                               engine.requestedProfile().name, engine.isa(), engine.arithmetic()));
    if (settings.chatTemplate.empty() && !engine.text().hasOwnTemplate()) {
        console.mutter(
            fmt::format("The model has no chat template: it continues a plain transcript (/template shows it), "
                        "at most {} tokens a reply (/set max_tokens).",
                        settings.maxTokens));
    }
}

int runChat(Program& program, const ChatArguments& arguments) {
    Console& console = program.console;
    const auto profile = requestedProfile(arguments.model.profile);
    if (!profile) return console.failInput(profile.error());
    std::string templateText;
    if (arguments.templateFile) {
        auto read = sessions::readWholeFile(*arguments.templateFile, largestTemplate);
        if (!read) return console.failInput(read.error());
        templateText = *std::move(read);
    }
    const ModelChoice choice(console, arguments.model.model, profile->model.path);
    if (!choice.ok()) return choice.exitCode();

    Interrupts interrupts;
    int code = Success;
    const auto engine = loadEngine(console, choice.path(), *profile, interrupts.token(), code);
    if (engine == nullptr) return code;
    auto settings = chatSettings(arguments, *engine, templateText);
    if (!arguments.prompt && console.inputIsTerminal() && console.errorIsTerminal()) {
        introduce(console, *engine, settings);
    }
    const auto store = openStore(program.database);
    ChatSession session(console, interrupts, *engine, std::move(settings), arguments.system.value_or(""));
    if (store) {
        session.keepIn(**store);
    } else {
        console.say("This chat is not kept: " + store.error().message);
    }
    return arguments.prompt ? session.runOnce(*arguments.prompt) : session.runLines();
}

}  // namespace

void addChatCommand(CLI::App& app, Program& program) {
    auto* command = app.add_subcommand("chat", "Chat with a model");
    command->footer(
        "Without --prompt: a dialogue at a terminal (/help lists its commands), else each line of stdin is a turn.\n"
        "Exit code 130: the answer was stopped with Ctrl-C.");
    const auto arguments = std::make_shared<ChatArguments>();
    addModelOption(*command, arguments->model);
    addProfileOption(*command, arguments->model);
    addText(*command, "--prompt", arguments->prompt, "One turn, and out");
    addText(*command, "--system", arguments->system, "The system prompt");
    addText(*command, "--template", arguments->templateFile, "A chat template in place of the model's")
        ->type_name("FILE");
    addWhole(*command, "--max-tokens", arguments->maxTokens, {1, std::numeric_limits<std::int32_t>::max()},
             "Output tokens of a reply; without it up to the context's end, 256 for a model without a chat template");
    command->add_option("--stop", arguments->stops, "End a reply at this text; may be given several times")
        ->type_name("TEXT")
        ->allow_extra_args(false);
    arguments->sampling.addTo(*command);
    addCommonOptions(*command, program);
    command->callback(
        [&program, arguments] { program.run = [&program, arguments] { return runChat(program, *arguments); }; });
}

}  // namespace firsttoken::app
