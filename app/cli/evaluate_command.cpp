#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "app/cli/arguments.h"
#include "app/cli/model_options.h"
#include "app/cli/program.h"
#include "app/cli/token_file.h"
#include "engine/engine.h"

namespace firsttoken::app {

namespace {

constexpr std::size_t shownTokens = 10;

struct EvaluateArguments {
    ModelOptions model;
    std::string tokens;
    std::int64_t greedy = 0;
};

Json tokenText(const engine::Text& text, engine::TokenId id) { return text.tokenText(id); }

void printText(Console& console, const engine::Text& text, const engine::Evaluation& result) {
    std::vector<std::size_t> order(result.logits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto shown = std::min(shownTokens, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                      [&](std::size_t a, std::size_t b) { return result.logits[a] > result.logits[b]; });
    std::string lines;
    for (std::size_t i = 0; i < shown; ++i) {
        const auto id = static_cast<engine::TokenId>(order[i]);
        const auto name = tokenText(text, id).dump(-1, ' ', false, Json::error_handler_t::replace);
        lines += fmt::format("{:>8}  {:>10.4f}  {}\n", id, result.logits[order[i]], name);
    }
    if (!result.greedy.empty()) lines += fmt::format("greedy {}\n", fmt::join(result.greedy, " "));
    lines += fmt::format("{} · {} · KV {}\n", result.isa, result.arithmetic, result.kvPrecision);
    console.print(lines);
}

void printJson(Console& console, const engine::Evaluation& result) {
    auto logits = Json::array();
    for (const float logit : result.logits) logits.push_back(shortest(logit));
    console.printJson({{"logits", std::move(logits)},
                       {"greedy", result.greedy},
                       {"kv_precision", result.kvPrecision},
                       {"arithmetic", result.arithmetic},
                       {"isa", result.isa}});
}

/// Empty if every id is one of the vocabulary's.
std::string foreignId(const std::vector<engine::TokenId>& ids, std::size_t vocabulary) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (static_cast<std::size_t>(ids[i]) < vocabulary) continue;
        return fmt::format("entry {} of the list is {}, but the vocabulary has {} tokens", i + 1, ids[i], vocabulary);
    }
    return {};
}

int runEvaluate(Console& console, const EvaluateArguments& arguments) {
    auto profile = requestedProfile(arguments.model.profile);
    if (!profile) return console.failInput(profile.error());
    const auto file = readTokenFile(arguments.tokens);
    if (!file) return console.failInput(file.error());
    const ModelChoice choice(console, arguments.model.model, profile->model.path);
    if (!choice.ok()) return choice.exitCode();
    if (file->context) profile->model.maxContextTokens = file->context;

    int code = Success;
    const auto engine = loadEngine(console, choice.path(), *profile, {}, code);
    if (engine == nullptr) return code;
    const auto vocabulary = static_cast<std::size_t>(engine->model().vocabulary);
    if (const auto fault = foreignId(file->ids, vocabulary); !fault.empty()) {
        return console.fail(BadUsage, arguments.tokens + ": " + fault);
    }
    const auto result = engine->evaluate({file->ids, arguments.greedy});
    if (!result) return console.fail(result.error());
    if (console.json) {
        printJson(console, *result);
    } else {
        printText(console, engine->text(), *result);
    }
    return Success;
}

}  // namespace

void addEvaluateCommand(CLI::App& app, Program& program) {
    auto* command = app.add_subcommand("evaluate", "Show the logits after a list of tokens");
    const auto arguments = std::make_shared<EvaluateArguments>();
    addModelOption(*command, arguments->model);
    addProfileOption(*command, arguments->model);
    command
        ->add_option("--tokens", arguments->tokens,
                     "A JSON list of token ids, or an object with \"prompt\" and perhaps \"context\"")
        ->required()
        ->type_name("FILE.json");
    addWhole(*command, "--greedy", arguments->greedy, {0, std::numeric_limits<std::int32_t>::max()},
             "Then take the likeliest token so many times");
    addCommonOptions(*command, program);
    command->callback([&program, arguments] {
        program.run = [&program, arguments] { return runEvaluate(program.console, *arguments); };
    });
}

}  // namespace firsttoken::app
