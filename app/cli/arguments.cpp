#include "app/cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace firsttoken::app {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr std::array<std::string_view, 4> freeTexts = {"--prompt", "--text", "--system", "--stop"};

template <class T>
std::optional<T> wholeText(std::string_view text) {
    T value{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// CLI11 reports a wrong value by an exception; main() turns it into the sentence.
template <class T>
T valueOrThrow(const std::string& name, Result<T> parsed) {
    if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
    return *parsed;
}

}  // namespace

Result<std::int64_t> parseWhole(std::string_view name, std::string_view text, WholeRange range) {
    const auto value = wholeText<std::int64_t>(text);
    if (value && *value >= range.least && *value <= range.most) return *value;
    return Error{ErrorCode::BadInput, fmt::format("{} is \"{}\", but must be a whole number from {} to {}", name, text,
                                                  range.least, range.most)};
}

Result<std::uint64_t> parseSeed(std::string_view name, std::string_view text) {
    if (const auto value = wholeText<std::uint64_t>(text)) return *value;
    return Error{ErrorCode::BadInput, fmt::format("{} is \"{}\", but must be a whole number from 0 to {}", name, text,
                                                  std::numeric_limits<std::uint64_t>::max())};
}

Result<double> parseReal(std::string_view name, std::string_view text, double least, double most, bool aboveLeast) {
    const auto value = wholeText<double>(text);
    const bool inside =
        value && std::isfinite(*value) && *value <= most && (aboveLeast ? *value > least : *value >= least);
    if (inside) return *value;
    const auto range =
        aboveLeast ? fmt::format("above {} and at most {}", least, most) : fmt::format("from {} to {}", least, most);
    return Error{ErrorCode::BadInput, fmt::format("{} is \"{}\", but must be a number {}", name, text, range)};
}

CLI::Option* addWhole(CLI::App& command, const std::string& name, std::int64_t& target, WholeRange range,
                      const std::string& description) {
    return command
        .add_option_function<std::string>(
            name,
            [&target, name, range](const std::string& text) {
                target = valueOrThrow(name, parseWhole(name, text, range));
            },
            description)
        ->type_name("N");
}

CLI::Option* addSeed(CLI::App& command, const std::string& name, std::optional<std::uint64_t>& target,
                     const std::string& description) {
    return command
        .add_option_function<std::string>(
            name, [&target, name](const std::string& text) { target = valueOrThrow(name, parseSeed(name, text)); },
            description)
        ->type_name("N");
}

CLI::Option* addText(CLI::App& command, const std::string& name, std::optional<std::string>& target,
                     const std::string& description) {
    return command
        .add_option_function<std::string>(
            name, [&target](const std::string& text) { target = text; }, description)
        ->type_name("TEXT");
}

std::vector<std::string> reversedArguments(int argc, char** argv) {
    std::vector<std::string> arguments;
    for (int i = 1; i < argc; ++i) {
        std::string argument = argv[i];
        const bool takesText = std::find(freeTexts.begin(), freeTexts.end(), argument) != freeTexts.end();
        if (takesText && i + 1 < argc && argv[i + 1][0] == '-') argument += "=" + std::string(argv[++i]);
        arguments.push_back(std::move(argument));
    }
    std::reverse(arguments.begin(), arguments.end());
    return arguments;
}

}  // namespace firsttoken::app
