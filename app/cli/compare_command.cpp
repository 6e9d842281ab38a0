#include <fmt/format.h>

#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/program.h"
#include "app/cli/store_options.h"
#include "sessions/compare/comparison.h"

namespace firsttoken::app {

using sessions::Comparison;
using sessions::SessionData;

namespace {

struct CompareArguments {
    std::vector<std::int64_t> a, b;
    std::optional<std::string> margin;
};

engine::Result<std::vector<SessionData>> arm(const sessions::SessionStore& store,
                                             const std::vector<std::int64_t>& ids) {
    std::vector<SessionData> runs;
    for (const auto id : ids) {
        auto session = store.load(id);
        if (!session) return session.error();
        runs.push_back(std::move(session).value());
    }
    return runs;
}

std::string valueText(const std::optional<double>& value) {
    return value ? fmt::format("{:.4g}", *value) : "not measured";
}

std::string metricLine(const sessions::MetricComparison& metric) {
    auto line = fmt::format("{:<20} {:>12} {:>12}", metric.name, valueText(metric.a), valueText(metric.b));
    line += metric.difference ? fmt::format("  {:+7.1f} %", *metric.difference * 100) : std::string("         –");
    if (metric.interval) {
        line += fmt::format("  [{:+.1f}, {:+.1f}] %", metric.interval->low * 100, metric.interval->high * 100);
        if (metric.intervalKind == sessions::IntervalKind::WithinRun) line += " within one run";
    }
    line += fmt::format("  {}", engine::toString(metric.verdict));
    if (!metric.note.empty()) line += " · " + metric.note;
    return line + "\n";
}

std::string comparisonText(const Comparison& comparison) {
    std::string text = comparison.summary + "\n";
    for (const auto& reason : comparison.unlikeReasons) text += "  " + oneLine(reason) + "\n";
    for (const auto& key : comparison.profileDiff) {
        text += fmt::format("  {}: {} → {}\n", key.key, key.a.empty() ? "–" : key.a, key.b.empty() ? "–" : key.b);
    }
    for (const auto& metric : comparison.metrics) text += metricLine(metric);
    return text;
}

int runCompare(Program& program, const CompareArguments& arguments) {
    Console& console = program.console;
    sessions::CompareOptions options;
    if (arguments.margin) {
        const auto margin = parseReal("--margin", *arguments.margin, 0, 0.99, true);
        if (!margin) return console.failInput(margin.error());
        options.margin = *margin;
    }
    int code = Success;
    const auto store = requireStore(console, program.database, code);
    if (store == nullptr) return code;
    const auto a = arm(*store, arguments.a);
    if (!a) return console.failInput(a.error());
    const auto b = arm(*store, arguments.b);
    if (!b) return console.failInput(b.error());
    const auto comparison = sessions::compare(*a, *b, options);
    console.print(console.json ? sessions::toJson(comparison) + "\n" : comparisonText(comparison));
    return Success;
}

}  // namespace

void addCompareCommand(CLI::App& app, Program& program) {
    auto* command = app.add_subcommand("compare", "Compare sessions: better, worse, equivalent, undecided or refused");
    command->footer("Each side may name several runs: firsttoken-cli compare 3 5 7 --with 4 6 8");
    const auto arguments = std::make_shared<CompareArguments>();
    command->add_option("A", arguments->a, "Sessions of the baseline")->required()->check(CLI::PositiveNumber);
    command->add_option("--with", arguments->b, "Sessions to hold against it")->required()->check(CLI::PositiveNumber);
    addText(*command, "--margin", arguments->margin, "Differences within it do not matter; 0.03 without it");
    addCommonOptions(*command, program);
    command->callback(
        [&program, arguments] { program.run = [&program, arguments] { return runCompare(program, *arguments); }; });
}

}  // namespace firsttoken::app
