#include "app/cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace firsttoken::app {

using engine::ErrorCode;

namespace {

constexpr std::string_view eraseLine = "\r\033[K";

void writeTo(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

}  // namespace

int exitCode(ErrorCode code) {
    switch (code) {
        case ErrorCode::BadInput:
        case ErrorCode::Unsupported:
        case ErrorCode::NotFound:
        case ErrorCode::DoesNotFit:
        case ErrorCode::Rejected:
            return BadUsage;
        case ErrorCode::Cancelled:
            return Interrupted;
        case ErrorCode::Io:
        case ErrorCode::Internal:
            break;
    }
    return Failed;
}

Console::Console()
    : m_inputIsTerminal(::isatty(STDIN_FILENO) == 1),
      m_outputIsTerminal(::isatty(STDOUT_FILENO) == 1),
      m_errorIsTerminal(::isatty(STDERR_FILENO) == 1) {}

void Console::print(std::string_view text) {
    if (m_outputFault) return;
    if (m_outputIsTerminal) status({});
    if (m_outputIsTerminal) {
        writeTo(stdout, terminalSafe(text));
    } else {
        writeTo(stdout, text);
    }
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) m_outputFault = errno != 0 ? errno : EIO;
}

void Console::printJson(const Json& value) { printLine(value.dump(-1, ' ', false, Json::error_handler_t::replace)); }

void Console::say(std::string_view line) {
    status({});
    writeTo(stderr, m_errorIsTerminal ? terminalSafe(line) : std::string(line));
    writeTo(stderr, "\n");
}

void Console::mutter(std::string_view line) {
    if (!m_errorIsTerminal) return say(line);
    status({});
    writeTo(stderr, fmt::format("\033[2m{}\033[0m\n", terminalSafe(line)));
}

void Console::status(std::string_view line) {
    if (!m_errorIsTerminal || line == m_status) return;
    writeTo(stderr, eraseLine);
    if (!line.empty()) writeTo(stderr, fmt::format("\033[2m{}\033[0m", oneLine(line)));
    std::fflush(stderr);
    m_status = line;
}

int Console::fail(int code, std::string_view sentence, std::string_view advice) {
    say("firsttoken-cli: " + oneLine(sentence));
    if (!advice.empty()) say(oneLine(advice));
    return code;
}

int Console::fail(const engine::Error& error, std::string_view advice) {
    return fail(exitCode(error.code), error.message, advice);
}

int Console::failInput(const engine::Error& error, std::string_view advice) {
    return fail(error.code == ErrorCode::Io ? BadUsage : exitCode(error.code), error.message, advice);
}

int Console::finish(int code) {
    status({});
    if (!m_outputFault) return code;
    // Whoever closed the pipe has what it wanted; nothing is to be said to it.
    if (*m_outputFault == EPIPE) return code == Success ? Failed : code;
    return fail(Failed, fmt::format("the output could not be written: {}", std::strerror(*m_outputFault)));
}

std::string terminalSafe(std::string_view text) {
    std::string safe;
    safe.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool c0 = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
        // U+0080 … U+009F: the eight-bit forms of escape sequences.
        const bool c1 = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
        if (c1) ++i;
        if (!c0 && !c1) safe += text[i];
    }
    return safe;
}

std::string oneLine(std::string_view text) {
    auto line = terminalSafe(text);
    for (auto& c : line) {
        if (c == '\n' || c == '\t') c = ' ';
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

std::string grouped(std::uint64_t number) {
    auto digits = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
        digits.insert(static_cast<std::size_t>(at), 1, ',');
    }
    return digits;
}

std::string byteText(std::uint64_t bytes) {
    constexpr std::array units = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, units[unit]);
}

double shortest(float value) {
    std::array<char, 32> text{};
    const auto [end, fault] = std::to_chars(text.data(), text.data() + text.size(), value);
    double same = static_cast<double>(value);
    if (fault == std::errc()) std::from_chars(text.data(), end, same);
    return same;
}

}  // namespace firsttoken::app
