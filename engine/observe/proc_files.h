#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Small text files of /proc and /sys. What cannot be read or understood is empty.
namespace firsttoken::engine {

/// At most 1 MiB of the file.
std::optional<std::string> readSmallFile(const std::filesystem::path& path);
/// Text without blanks and line ends at both sides.
std::string_view trimmed(std::string_view text);
/// A decimal number that is the whole (trimmed) text.
std::optional<std::uint64_t> parseNumber(std::string_view text);
/// The text after `key` and a separator (blank, tab or colon) on the first line that starts so.
std::optional<std::string_view> valueOf(std::string_view text, std::string_view key);

}  // namespace firsttoken::engine
