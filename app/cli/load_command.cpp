#include <fmt/format.h>

#include <limits>
#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/interrupts.h"
#include "app/cli/metrics_text.h"
#include "app/cli/model_options.h"
#include "app/cli/program.h"
#include "app/cli/store_options.h"
#include "sessions/device_sampler.h"
#include "sessions/load/load_session.h"
#include "sessions/load/workload.h"
#include "sessions/metrics/session_metrics.h"

namespace firsttoken::app {

using engine::Result;
using sessions::LoadOutcome;
using sessions::LoadPhase;
using sessions::LoadProgress;
using sessions::Workload;

namespace {

constexpr WholeRange tokenRange = {1, 1'048'576};

struct LoadArguments {
    ModelOptions model;
    std::optional<std::string> workload;
    std::optional<std::string> title;
    std::int64_t requests = 0, clients = 0, promptTokens = 0, outputTokens = 0, groups = 0, warmup = -1;
    std::optional<std::string> rate, duration, sharedPrefix, hangUp;  ///< numbers, read strictly
    std::optional<std::uint64_t> seed;
};

/// What the options say over the workload's file; `changed` counts for fitting to the context.
Result<Workload> workloadOf(const LoadArguments& given) {
    Workload workload;
    if (given.workload) {
        auto loaded = sessions::loadWorkload(*given.workload);
        if (!loaded) return loaded.error();
        workload = *loaded;
    }
    if (given.rate && given.clients > 0) {
        return engine::Error{engine::ErrorCode::BadInput, "--rate and --clients exclude each other"};
    }
    if (given.rate) {
        const auto rate = parseReal("--rate", *given.rate, 0, 1e6, true);
        if (!rate) return rate.error();
        if (!workload.arrivals.isOpen()) workload.arrivals.kind = sessions::ArrivalKind::Poisson;
        workload.arrivals.ratePerS = *rate;
    }
    if (given.clients > 0) {
        workload.arrivals.kind = sessions::ArrivalKind::Closed;
        workload.arrivals.clients = given.clients;
    }
    if (given.duration) {
        const auto seconds = parseReal("--duration", *given.duration, 0, 1e7, true);
        if (!seconds) return seconds.error();
        workload.durationS = *seconds;
        if (given.requests == 0) workload.requests.reset();
    }
    if (given.sharedPrefix) {
        const auto share = parseReal("--shared-prefix", *given.sharedPrefix, 0, 1);
        if (!share) return share.error();
        workload.sharedPrefix.share = *share;
    }
    if (given.hangUp) {
        const auto share = parseReal("--hang-up", *given.hangUp, 0, 1);
        if (!share) return share.error();
        workload.hangUpShare = *share;
    }
    if (given.requests > 0) workload.requests = given.requests;
    if (given.promptTokens > 0) {
        workload.promptTokens = {sessions::LengthKind::Fixed, static_cast<double>(given.promptTokens)};
    }
    if (given.outputTokens > 0) {
        workload.outputTokens = {sessions::LengthKind::Fixed, static_cast<double>(given.outputTokens)};
    }
    if (given.groups > 0) workload.sharedPrefix.groups = given.groups;
    if (given.warmup >= 0) workload.warmup = {given.warmup, 0};
    if (given.seed) workload.seed = *given.seed;
    const auto checked = sessions::checkWorkload(workload);
    if (!checked) return checked.error();
    return workload;
}

std::string progressLine(const LoadProgress& progress) {
    if (progress.phase == LoadPhase::Planning) return "Planning the load";
    if (progress.phase == LoadPhase::HashingModel) return "Reading the model's hash";
    auto line = fmt::format("{:.1f} s · {}", static_cast<double>(progress.elapsedNs) / 1e9, progress.done);
    if (progress.planned) line += fmt::format(" of {}", *progress.planned);
    line += fmt::format(" done · {} running", progress.running);
    if (progress.failed > 0) line += fmt::format(" · {} failed", progress.failed);
    if (progress.ttftP50Ms) {
        line += fmt::format(" · TTFT p50 {:.0f} ms, p95 {:.0f} ms", *progress.ttftP50Ms,
                            progress.ttftP95Ms.value_or(*progress.ttftP50Ms));
    }
    if (progress.outputTokensPerS) line += fmt::format(" · {:.1f} tok/s", *progress.outputTokensPerS);
    return line;
}

Json outcomeJson(const LoadOutcome& outcome, const sessions::SessionMetrics& metrics) {
    Json value = sessionJson(outcome.data, metrics);
    value["session"] = outcome.session == 0 ? Json() : Json(outcome.session);
    value["send_lag_ms"] = {{"p50", orNull(outcome.sendLag.p50Ms)},
                            {"p99", orNull(outcome.sendLag.p99Ms)},
                            {"max", orNull(outcome.sendLag.maxMs)},
                            {"degraded", outcome.sendLag.degraded}};
    value["generator_cpu_s"] = static_cast<double>(outcome.cost.generatorCpuNs) / 1e9;
    value["recorder_cpu_s"] = static_cast<double>(outcome.cost.recorderCpuNs) / 1e9;
    value["storage_error"] = outcome.storageError ? Json(outcome.storageError->message) : Json();
    return value;
}

int report(Console& console, const LoadOutcome& outcome) {
    const auto metrics = sessions::summarise(outcome.data);
    if (console.json) {
        console.printJson(outcomeJson(outcome, metrics));
    } else {
        if (outcome.session != 0) console.printLine(fmt::format("Session {}", outcome.session));
        console.print(metricsText(metrics));
        if (outcome.sendLag.degraded) {
            console.printLine(fmt::format("The generator sent late (p99 {:.1f} ms): do not trust these latencies.",
                                          outcome.sendLag.p99Ms.value_or(0)));
        }
    }
    if (outcome.storageError) return console.fail(Failed, "not all was stored: " + outcome.storageError->message);
    switch (outcome.data.header.state) {
        case sessions::SessionState::Completed:
            return Success;
        case sessions::SessionState::Cancelled:
            return Interrupted;
        default:
            return console.fail(Failed, outcome.data.header.failure);
    }
}

int runLoad(Program& program, const LoadArguments& arguments) {
    Console& console = program.console;
    auto workload = workloadOf(arguments);
    if (!workload) return console.failInput(workload.error());
    const auto profile = requestedProfile(arguments.model.profile);
    if (!profile) return console.failInput(profile.error());
    const ModelChoice choice(console, arguments.model.model, profile->model.path);
    if (!choice.ok()) return choice.exitCode();
    Interrupts interrupts;
    int code = Success;
    const auto store = requireStore(console, program.database, code);
    if (store == nullptr) return code;
    const auto engine = loadEngine(console, choice.path(), *profile, interrupts.token(), code);
    if (engine == nullptr) return code;
    const bool lengthsGiven = arguments.workload || arguments.promptTokens > 0 || arguments.outputTokens > 0;
    if (!lengthsGiven) {
        const auto context = engine->effective().profile.model.maxContextTokens;
        *workload = sessions::fittedTo(*workload, context.value_or(engine->model().contextLength));
    }
    if (console.chatty()) console.mutter(sessions::describeWorkload(*workload));

    sessions::LoadSessionOptions options;
    options.title = arguments.title.value_or("");
    options.stop = interrupts.token();
    options.deviceSampler = sessions::deviceSampler();
    options.observer.progress = [&console](const LoadProgress& progress) { console.status(progressLine(progress)); };
    const auto outcome = sessions::runLoadSession(*engine, *workload, store.get(), options);
    console.status({});
    if (!outcome) return console.failInput(outcome.error());
    return report(console, *outcome);
}

}  // namespace

void addLoadCommand(CLI::App& app, Program& program) {
    auto* command = app.add_subcommand("load", "Load the engine like many clients do, and keep the session");
    command->footer(
        "Without --rate and --clients: Poisson arrivals at 2 a second. Exit code 130: stopped with Ctrl-C.");
    const auto arguments = std::make_shared<LoadArguments>();
    addModelOption(*command, arguments->model);
    addProfileOption(*command, arguments->model);
    addWhole(*command, "--requests", arguments->requests, {1, sessions::mostRequests}, "How many in all");
    addText(*command, "--rate", arguments->rate, "Open loop: requests a second, whatever the engine does")
        ->type_name("R");
    addWhole(*command, "--clients", arguments->clients, {1, 100'000},
             "Closed loop: clients that wait for their answer");
    addText(*command, "--duration", arguments->duration, "Plan no request after so many seconds")->type_name("S");
    addWhole(*command, "--prompt-tokens", arguments->promptTokens, tokenRange, "Tokens of each prompt, exactly");
    addWhole(*command, "--output-tokens", arguments->outputTokens, tokenRange, "Tokens of each answer, exactly");
    addText(*command, "--shared-prefix", arguments->sharedPrefix, "Share of prompts with a common prefix, 0 to 1")
        ->type_name("F");
    addWhole(*command, "--prefix-groups", arguments->groups, {1, 100'000}, "How many different prefixes");
    addText(*command, "--hang-up", arguments->hangUp, "Share of clients that leave at a random token, 0 to 1")
        ->type_name("F");
    addWhole(*command, "--warmup", arguments->warmup, {0, sessions::mostRequests}, "Requests left out of the figures");
    addText(*command, "--workload", arguments->workload, "A workload file, or a built-in's name")->type_name("FILE");
    addSeed(*command, "--seed", arguments->seed, "Of prompts, lengths and arrivals");
    addText(*command, "--title", arguments->title, "The session's title");
    addCommonOptions(*command, program);
    command->callback(
        [&program, arguments] { program.run = [&program, arguments] { return runLoad(program, *arguments); }; });
}

}  // namespace firsttoken::app
