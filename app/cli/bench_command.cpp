#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/bench_runs.h"
#include "app/cli/model_options.h"
#include "app/cli/program.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "engine/statistics.h"

// The measuring protocol is in bench_runs.h. Each test runs once uncounted, to warm caches and wake the threads, then
// --repeat times; every value is printed, the median is the headline.

namespace firsttoken::app {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr WholeRange tokenRange = {0, 1'048'576};
constexpr WholeRange sequenceRange = {1, 1'024};

struct BenchArguments {
    ModelOptions model;
    std::int64_t prefill = 512;
    std::int64_t decode = 64;
    std::vector<std::int64_t> sequences = {1, 4, 16};
    std::int64_t threads = 0;  ///< 0: as the profile says
    std::int64_t repeat = 5;
    bool limits = false;
};

struct Test {
    std::string name;
    std::function<Result<BenchRun>(engine::Engine&)> run;
};

std::vector<Test> tests(const BenchArguments& arguments) {
    std::vector<Test> list;
    if (arguments.prefill > 0) {
        list.push_back({fmt::format("prefill-{}", arguments.prefill),
                        [n = arguments.prefill](engine::Engine& engine) { return runPrefill(engine, n); }});
    }
    for (const auto count : arguments.sequences) {
        if (arguments.decode == 0) break;
        list.push_back({fmt::format("decode-{}x{}", arguments.decode, count),
                        [n = arguments.decode, count](engine::Engine& engine) { return runDecode(engine, n, count); }});
    }
    return list;
}

/// Tokens of prompt and output of the longest sequence.
std::int64_t contextNeeded(const BenchArguments& arguments) {
    const auto prefill = arguments.prefill > 0 ? arguments.prefill + 1 : 0;
    const auto decode = arguments.decode > 0 ? decodePromptTokens + arguments.decode : 0;
    return std::max<std::int64_t>({prefill, decode, 1});
}

engine::Profile benchProfile(const BenchArguments& arguments, engine::Profile profile) {
    profile.cache.prefixCache = false;
    profile.model.maxContextTokens = contextNeeded(arguments);
    const auto most = *std::max_element(arguments.sequences.begin(), arguments.sequences.end());
    profile.scheduler.maxConcurrentSequences = std::max(profile.scheduler.maxConcurrentSequences, most);
    if (arguments.threads > 0) profile.device.threads = arguments.threads;
    return profile;
}

struct Measured {
    std::vector<double> tokensPerS;
    std::uint64_t digest = 0;
};

Result<Measured> measure(Console& console, engine::Engine& engine, const Test& test, std::int64_t repeat) {
    Measured measured;
    for (std::int64_t i = 0; i <= repeat; ++i) {
        console.status(fmt::format("{} · {}", test.name, i == 0 ? "warm-up" : fmt::format("run {} of {}", i, repeat)));
        const auto run = test.run(engine);
        if (!run) return run.error();
        if (i == 0) {
            measured.digest = run->digest;
            continue;
        }
        if (run->digest != measured.digest) {
            return Error{ErrorCode::Internal, test.name + ": the same work gave other tokens in another run"};
        }
        measured.tokensPerS.push_back(run->tokensPerS);
    }
    return measured;
}

Json testJson(const Test& test, const Measured& measured, const engine::Engine& engine) {
    const auto machine = engine::machineFacts();
    return {{"test", test.name},
            {"tokens_per_s", measured.tokensPerS},
            {"median", orNull(engine::median(measured.tokensPerS))},
            {"digest", fmt::format("{:016x}", measured.digest)},
            {"model", engine.model().path},
            {"format", engine.model().format},
            {"isa", engine.isa()},
            {"arithmetic", engine.arithmetic()},
            {"threads", orNull(engine.effective().profile.device.threads)},
            {"processor", machine.processor},
            {"build", machine.build}};
}

std::string testLine(const Test& test, const Measured& measured) {
    const auto [least, most] = std::minmax_element(measured.tokensPerS.begin(), measured.tokensPerS.end());
    return fmt::format("{:<16}{:>10.2f} tok/s  ({:.2f} … {:.2f})  {:016x}\n", test.name,
                       engine::median(measured.tokensPerS).value_or(0), *least, *most, measured.digest);
}

struct Limit {
    const char* name;
    const char* key;
    const char* unit;
    std::optional<double> value;
};

/// The machine's own limits: entries of the same shape, so that a reader of the list needs no exception.
void addLimits(Console& console, std::int64_t threads, Json& list, std::string& lines) {
    console.status("Measuring the machine");
    const auto measured = engine::measureLimits(threads);
    for (const auto& limit : {Limit{"read-rate", "gb_per_s", "GB/s", measured.readGbPerS},
                              Limit{"int8-rate", "tera_operations_per_s", "TOP/s", measured.int8TopPerS},
                              Limit{"bf16-rate", "tera_operations_per_s", "TOP/s", measured.bf16TopPerS}}) {
        Json entry = {{"test", limit.name}, {"tokens_per_s", Json::array()}, {"median", nullptr}, {"digest", nullptr}};
        entry[limit.key] = orNull(limit.value);
        entry["threads"] = threads;
        list.push_back(std::move(entry));
        lines += limit.value ? fmt::format("{:<16}{:>10.2f} {}\n", limit.name, *limit.value, limit.unit)
                             : fmt::format("{:<16}{:>10}\n", limit.name, "not available");
    }
}

int runBench(Console& console, const BenchArguments& arguments) {
    const auto base = requestedProfile(arguments.model.profile);
    if (!base) return console.failInput(base.error());
    const ModelChoice choice(console, arguments.model.model, base->model.path);
    if (!choice.ok()) return choice.exitCode();
    int code = Success;
    const auto engine = loadEngine(console, choice.path(), benchProfile(arguments, *base), {}, code);
    if (engine == nullptr) return code;
    const auto& effective = engine->effective().profile;
    const auto context = effective.model.maxContextTokens.value_or(engine->model().contextLength);
    if (context < contextNeeded(arguments)) {
        return console.fail(
            BadUsage,
            fmt::format("the tests need a context of {} tokens, the model has {}", contextNeeded(arguments), context),
            "Choose a smaller --prefill or --decode.");
    }
    auto list = Json::array();
    std::string lines;
    for (const auto& test : tests(arguments)) {
        const auto measured = measure(console, *engine, test, arguments.repeat);
        if (!measured) return console.fail(measured.error());
        list.push_back(testJson(test, *measured, *engine));
        lines += testLine(test, *measured);
    }
    if (arguments.limits) {
        addLimits(console, effective.device.threads.value_or(engine::machineFacts().cores), list, lines);
    }
    if (console.json) {
        console.printJson(list);
    } else {
        console.print(lines);
    }
    return Success;
}

/// "1,4,16"
std::vector<std::int64_t> sequenceList(const std::string& text) {
    std::vector<std::int64_t> counts;
    std::string_view rest = text;
    for (;;) {
        const auto comma = rest.find(',');
        const auto count = parseWhole("--sequences", rest.substr(0, comma), sequenceRange);
        if (!count) throw CLI::ValidationError("--sequences", count.error().message);
        counts.push_back(*count);
        if (comma == rest.npos) return counts;
        rest.remove_prefix(comma + 1);
    }
}

}  // namespace

void addBenchCommand(CLI::App& app, Program& program) {
    auto* command = app.add_subcommand("bench", "Measure prefill and decode on this machine");
    command->footer("Each figure stands beside a digest of the tokens that were computed: equal work, equal digest.");
    const auto arguments = std::make_shared<BenchArguments>();
    addModelOption(*command, arguments->model);
    addProfileOption(*command, arguments->model);
    addWhole(*command, "--prefill", arguments->prefill, tokenRange, "Prompt tokens (512); 0: no such test");
    addWhole(*command, "--decode", arguments->decode, tokenRange, "Output tokens a sequence (64); 0: no such test")
        ->check(
            [](const std::string& text) { return text == "1" ? "--decode is 1, but must be 0 or at least 2" : ""; });
    command
        ->add_option_function<std::string>(
            "--sequences", [arguments](const std::string& text) { arguments->sequences = sequenceList(text); },
            "Sequences that decode together (1,4,16)")
        ->type_name("N,N,...");
    addWhole(*command, "--threads", arguments->threads, {1, 1'024}, "Threads of the engine");
    addWhole(*command, "--repeat", arguments->repeat, {1, 1'000}, "Counted runs of each test (5)");
    command->add_flag("--limits", arguments->limits, "Measure what the machine could do, too");
    addCommonOptions(*command, program);
    command->callback([&program, arguments] {
        program.run = [&program, arguments] { return runBench(program.console, *arguments); };
    });
}

}  // namespace firsttoken::app
