#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "engine/result.h"

namespace firsttoken::app {

using Json = nlohmann::ordered_json;

/// The programs' exit codes (docs: the programs' contract).
enum ExitCode : int { Success = 0, Failed = 1, BadUsage = 2, Interrupted = 130 };

/// The exit code that an error means by itself. Io is Failed; where an input could not be read, say BadUsage.
int exitCode(engine::ErrorCode code);

/// Stdout and stderr of the program. Used by the main thread only.
class Console {
public:
    Console();

    bool json = false;     ///< --json: objects on stdout instead of text
    bool verbose = false;  ///< --verbose: what a terminal is told is told a pipe too

    bool inputIsTerminal() const { return m_inputIsTerminal; }
    bool outputIsTerminal() const { return m_outputIsTerminal; }
    bool errorIsTerminal() const { return m_errorIsTerminal; }
    /// Remarks and progress are for people who watch.
    bool chatty() const { return m_errorIsTerminal || verbose; }

    /// Result text, as it is; at a terminal without its control characters. Delivered at once.
    void print(std::string_view text);
    void printLine(std::string_view text) { print(std::string(text) + "\n"); }
    /// One JSON value on one line.
    void printJson(const Json& value);
    /// A message for people: one line on stderr.
    void say(std::string_view line);
    /// The same, dimmed at a terminal.
    void mutter(std::string_view line);
    /// A line on stderr that the next status() or message replaces; only at a terminal. Empty: takes it away.
    void status(std::string_view line);

    /// Prints the one sentence of a failure and at most one line of advice; returns `code`.
    int fail(int code, std::string_view sentence, std::string_view advice = {});
    int fail(const engine::Error& error, std::string_view advice = {});
    /// For what reads an input: there an Io error is the input's fault.
    int failInput(const engine::Error& error, std::string_view advice = {});

    /// Set once stdout took no more (a closed pipe, a full disk): the errno.
    std::optional<int> outputFault() const { return m_outputFault; }
    /// The exit code in the end: `code`, or Failed with its sentence where output was lost.
    int finish(int code);

private:
    bool m_inputIsTerminal;
    bool m_outputIsTerminal;
    bool m_errorIsTerminal;
    std::string m_status;  ///< the line that stands on the terminal; empty: none
    std::optional<int> m_outputFault;
};

/// `text` on one line and without control characters, for messages that quote files.
std::string oneLine(std::string_view text);
/// `text` without the control characters that move a terminal's cursor or change its state; newlines and tabs stay.
std::string terminalSafe(std::string_view text);

/// 2048 -> "2,048".
std::string grouped(std::uint64_t number);
/// 253113024 -> "241.4 MiB".
std::string byteText(std::uint64_t bytes);
/// The shortest decimal text that gives the same float back, as a JSON number.
double shortest(float value);
/// A value or null.
template <class T>
Json orNull(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

}  // namespace firsttoken::app
