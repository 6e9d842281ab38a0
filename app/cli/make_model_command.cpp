#include <filesystem>
#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/model_options.h"
#include "app/cli/program.h"
#include "engine/model_info.h"

namespace firsttoken::app {

namespace {

struct MakeModelArguments {
    std::string shape;
    std::string format;
    std::optional<std::string> vocabulary;
    std::optional<std::uint64_t> seed;
    std::string output;
};

/// What must be true of the output's name before the work begins; empty: all is well.
std::string outputFault(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code unknown;
    if (path.empty()) return "the output's name is empty";
    if (fs::is_directory(path, unknown)) return path + " is a directory, not a file";
    const auto folder = fs::path(path).parent_path();
    if (!folder.empty() && !fs::is_directory(folder, unknown)) return "there is no folder " + folder.string();
    return {};
}

int runMakeModel(Console& console, const MakeModelArguments& arguments) {
    if (const auto fault = outputFault(arguments.output); !fault.empty()) return console.fail(BadUsage, fault);
    engine::SyntheticModel what;
    what.shape = arguments.shape;
    what.format = arguments.format;
    if (arguments.seed) what.seed = *arguments.seed;
    if (arguments.vocabulary) {
        const ModelChoice vocabulary(console, arguments.vocabulary);
        if (!vocabulary.ok()) return vocabulary.exitCode();
        what.vocabulary = vocabulary.path();
    }
    const auto bytes = engine::writeSyntheticModel(what, arguments.output);
    if (!bytes) return console.fail(bytes.error());
    if (console.json) {
        console.printJson({{"path", arguments.output},
                           {"bytes", *bytes},
                           {"shape", what.shape},
                           {"format", what.format},
                           {"seed", what.seed}});
        return Success;
    }
    console.printLine(arguments.output + " · " + byteText(*bytes));
    console.say("Its weights are random: it talks nonsense, and is for measuring.");
    return Success;
}

}  // namespace

void addMakeModelCommand(CLI::App& app, Program& program) {
    auto* command = app.add_subcommand("make-model", "Write a model of random weights, for measuring");
    command->footer("Such a model talks nonsense. Its shape and format cost what a real model's would.");
    const auto arguments = std::make_shared<MakeModelArguments>();
    command->add_option("--shape", arguments->shape, "tiny, smollm2-135m, qwen2.5-0.5b or tinyllama-1.1b")
        ->required()
        ->type_name("S");
    command->add_option("--format", arguments->format, "F16, Q8_0, Q4_0, Q5_0 or Q4_K: of every matrix")
        ->required()
        ->type_name("F");
    addText(*command, "--vocabulary", arguments->vocabulary,
            "A model whose tokenizer is taken; without it 256 bytes and a few words")
        ->type_name("M");
    addSeed(*command, "--seed", arguments->seed, "The same seed, the same weights");
    command->add_option("output", arguments->output, "The file to write")->required()->type_name("OUT.gguf");
    addCommonOptions(*command, program);
    command->callback([&program, arguments] {
        program.run = [&program, arguments] { return runMakeModel(program.console, *arguments); };
    });
}

}  // namespace firsttoken::app
