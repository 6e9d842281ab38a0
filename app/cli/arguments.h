#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

/// Options with strict values: a number is the whole text, in decimal, within its range, and finite.
namespace firsttoken::app {

struct WholeRange {
    std::int64_t least = 0;
    std::int64_t most = 0;
};

/// Errors: BadInput, "NAME is TEXT, but must be a whole number from A to B".
engine::Result<std::int64_t> parseWhole(std::string_view name, std::string_view text, WholeRange range);
engine::Result<std::uint64_t> parseSeed(std::string_view name, std::string_view text);
/// `aboveLeast`: `least` itself is out of range.
engine::Result<double> parseReal(std::string_view name, std::string_view text, double least, double most,
                                 bool aboveLeast = false);

/// The target must outlive the parse.
CLI::Option* addWhole(CLI::App& command, const std::string& name, std::int64_t& target, WholeRange range,
                      const std::string& description);
CLI::Option* addSeed(CLI::App& command, const std::string& name, std::optional<std::uint64_t>& target,
                     const std::string& description);
/// A text taken as it is, also an empty one.
CLI::Option* addText(CLI::App& command, const std::string& name, std::optional<std::string>& target,
                     const std::string& description);

/// The arguments after the program's name, in CLI11's order (last first). A free text that starts with a dash
/// (`--text -5`) is joined to its option, as getopt would read it.
std::vector<std::string> reversedArguments(int argc, char** argv);

}  // namespace firsttoken::app
