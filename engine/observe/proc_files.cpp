#include "engine/observe/proc_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace firsttoken::engine {

std::optional<std::string> readSmallFile(const std::filesystem::path& path) {
    constexpr std::size_t most = 1U << 20U;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    // Files of /proc tell no size. Most are tiny and read ten times a second, so the room grows as needed.
    std::string text;
    std::size_t room = 4096;
    while (file && text.size() < most) {
        const std::size_t before = text.size();
        text.resize(std::min(most, before + room));
        file.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
        text.resize(before + static_cast<std::size_t>(file.gcount()));
        room *= 4;
    }
    if (file.bad()) return std::nullopt;
    return text;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<std::uint64_t> parseNumber(std::string_view text) {
    text = trimmed(text);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::string_view> valueOf(std::string_view text, std::string_view key) {
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!line.starts_with(key)) continue;
        std::string_view rest = line.substr(key.size());
        if (rest.empty() || (rest.front() != ' ' && rest.front() != '\t' && rest.front() != ':')) continue;
        rest = trimmed(rest);
        if (rest.starts_with(':')) rest = trimmed(rest.substr(1));
        return rest;
    }
    return std::nullopt;
}

}  // namespace firsttoken::engine
