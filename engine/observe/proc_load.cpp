#include "engine/observe/proc_load.h"

#include <string>
#include <string_view>

#include "engine/observe/proc_files.h"

namespace firsttoken::engine {

namespace {

/// Takes the next word from the front of `text`; empty at its end.
std::string_view nextWord(std::string_view& text) {
    text = trimmed(text);
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

}  // namespace

std::optional<PageFaults> pageFaults(const std::filesystem::path& root) {
    const auto text = readSmallFile(root / "proc/self/stat");
    if (!text) return std::nullopt;
    // "pid (name) state ppid pgrp session tty tpgid flags minflt cminflt majflt …"; the name may hold anything.
    const auto afterName = text->rfind(')');
    if (afterName == std::string::npos) return std::nullopt;
    std::string_view rest = std::string_view(*text).substr(afterName + 1);
    for (int skipped = 0; skipped < 7; ++skipped) nextWord(rest);
    const auto minor = parseNumber(nextWord(rest));
    nextWord(rest);
    const auto major = parseNumber(nextWord(rest));
    if (!minor || !major) return std::nullopt;
    return PageFaults{*minor, *major};
}

std::optional<MachineTimes> machineTimes(const std::filesystem::path& root) {
    const auto text = readSmallFile(root / "proc/stat");
    if (!text) return std::nullopt;
    auto line = valueOf(*text, "cpu");
    if (!line) return std::nullopt;
    // user nice system idle iowait irq softirq steal; the guests' times that follow are parts of user and nice.
    constexpr std::size_t idleAt = 3, waitAt = 4;
    MachineTimes times;
    for (std::size_t i = 0; i < 8; ++i) {
        const std::string_view word = nextWord(*line);
        const auto ticks = parseNumber(word);
        if (!ticks) {
            if (word.empty() && i > idleAt) break;  // older kernels tell less
            return std::nullopt;
        }
        (i == idleAt || i == waitAt ? times.idle : times.busy) += *ticks;
    }
    return times;
}

std::optional<double> busyShare(const MachineTimes& before, const MachineTimes& now) {
    if (now.busy < before.busy || now.idle < before.idle) return std::nullopt;
    const auto busy = static_cast<double>(now.busy - before.busy);
    const auto all = busy + static_cast<double>(now.idle - before.idle);
    if (all <= 0) return std::nullopt;
    return busy / all;
}

}  // namespace firsttoken::engine
