#include <chrono>
#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/model_options.h"
#include "app/cli/program.h"
#include "engine/text.h"
#include "sessions/models/files.h"

namespace firsttoken::app {

namespace {

constexpr std::uint64_t largestTemplate = 4ULL << 20;
constexpr std::uint64_t largestGiven = 64ULL << 20;

struct RenderArguments {
    ModelOptions model;
    std::optional<std::string> templateFile;
    std::string given;
    std::string now;
};

/// YYYY-MM-DD, a day that exists.
bool isDate(const std::string& text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    const auto year = parseWhole("year", text.substr(0, 4), {1, 9999});
    const auto month = parseWhole("month", text.substr(5, 2), {1, 12});
    const auto day = parseWhole("day", text.substr(8, 2), {1, 31});
    if (!year || !month || !day) return false;
    return std::chrono::year_month_day(std::chrono::year(static_cast<int>(*year)),
                                       std::chrono::month(static_cast<unsigned>(*month)),
                                       std::chrono::day(static_cast<unsigned>(*day)))
        .ok();
}

using Pieces = std::vector<engine::RenderedPiece>;

engine::Result<Pieces> render(const RenderArguments& arguments, const std::string& modelPath,
                              const std::string& templateText, const std::string& given) {
    if (modelPath.empty()) return engine::renderTemplate(templateText, given, arguments.now);
    const auto text = engine::openText(modelPath);
    if (!text) return text.error();
    return (*text)->render(given, templateText, arguments.now);
}

int runRender(Console& console, const RenderArguments& arguments) {
    std::string modelPath;
    std::string templateText;
    if (arguments.templateFile) {
        auto read = sessions::readWholeFile(*arguments.templateFile, largestTemplate);
        if (!read) return console.failInput(read.error());
        templateText = *std::move(read);
    }
    if (arguments.model.model || !arguments.templateFile) {
        const ModelChoice choice(console, arguments.model.model);
        if (!choice.ok()) return choice.exitCode();
        modelPath = choice.path();
    }
    const auto given = sessions::readWholeFile(arguments.given, largestGiven);
    if (!given) return console.failInput(given.error());
    const auto pieces = render(arguments, modelPath, templateText, *given);
    if (!pieces) return console.failInput(pieces.error());

    std::string text;
    for (const auto& piece : *pieces) text += piece.text;
    if (console.json) {
        console.printJson({{"text", text}});
    } else {
        console.print(text);
        if (console.outputIsTerminal() && !text.ends_with('\n')) console.print("\n");
    }
    return Success;
}

}  // namespace

void addRenderCommand(CLI::App& app, Program& program) {
    auto* command = app.add_subcommand("render", "Render a chat template");
    const auto arguments = std::make_shared<RenderArguments>();
    addModelOption(*command, arguments->model);
    addText(*command, "--template", arguments->templateFile,
            "A template in a file; with --model, in place of the model's")
        ->type_name("FILE");
    command->add_option("--given", arguments->given, "A JSON object: messages, tools, add_generation_prompt, …")
        ->required()
        ->type_name("FILE");
    command
        ->add_option_function<std::string>(
            "--now",
            [arguments](const std::string& text) {
                if (!isDate(text)) {
                    throw CLI::ValidationError("--now", "--now is \"" + text + "\", but must be a date, YYYY-MM-DD");
                }
                arguments->now = text;
            },
            "The date that strftime_now formats; without it today")
        ->type_name("YYYY-MM-DD");
    addCommonOptions(*command, program);
    command->callback([&program, arguments] {
        program.run = [&program, arguments] { return runRender(program.console, *arguments); };
    });
}

}  // namespace firsttoken::app
