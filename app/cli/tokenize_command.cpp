#include <fmt/format.h>

#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/model_options.h"
#include "app/cli/program.h"
#include "engine/text.h"
#include "sessions/models/files.h"

namespace firsttoken::app {

namespace {

constexpr std::uint64_t largestText = 1ULL << 30;

struct TokenizeArguments {
    ModelOptions model;
    std::optional<std::string> text;
    std::optional<std::string> file;
    bool noSpecial = false;
    bool parseSpecial = false;
};

int runTokenize(Console& console, const TokenizeArguments& arguments) {
    const ModelChoice choice(console, arguments.model.model);
    if (!choice.ok()) return choice.exitCode();
    std::string input = arguments.text.value_or("");
    if (arguments.file) {
        auto read = sessions::readWholeFile(*arguments.file, largestText);
        if (!read) return console.failInput(read.error());
        input = *std::move(read);
    }
    const auto text = engine::openText(choice.path());
    if (!text) return console.failInput(text.error());
    const auto ids = (*text)->tokenize(input, {!arguments.noSpecial, arguments.parseSpecial});
    if (console.json) {
        console.printJson({{"ids", ids}, {"count", ids.size()}});
        return Success;
    }
    std::string lines;
    for (const auto id : ids) {
        lines += fmt::format("{:>8}  {}\n", id,
                             Json((*text)->tokenText(id)).dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    console.print(lines);
    if (console.chatty()) console.mutter(fmt::format("{} tokens", grouped(ids.size())));
    return Success;
}

}  // namespace

void addTokenizeCommand(CLI::App& app, Program& program) {
    auto* command = app.add_subcommand("tokenize", "Show the token ids of a text");
    const auto arguments = std::make_shared<TokenizeArguments>();
    addModelOption(*command, arguments->model);
    auto* input = command->add_option_group("input", "One of them");
    addText(*input, "--text", arguments->text, "The text");
    addText(*input, "--file", arguments->file, "A file that holds the text, taken byte by byte")->type_name("FILE");
    input->require_option(1);
    command->add_flag("--no-special", arguments->noSpecial, "Do not add BOS and EOS");
    command->add_flag("--parse-special", arguments->parseSpecial, "Let control tokens in the text become those tokens");
    addCommonOptions(*command, program);
    command->callback([&program, arguments] {
        program.run = [&program, arguments] { return runTokenize(program.console, *arguments); };
    });
}

}  // namespace firsttoken::app
