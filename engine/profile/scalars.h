#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/profile.h"
#include "engine/result.h"

/// Single values of a profile as text, strictly: what might be read in two ways is refused, and the sentence says how
/// to write it. Errors: BadInput, a phrase that goes on after a key's name ("must be …").
namespace firsttoken::engine {

Result<std::int64_t> parseInteger(std::string_view text);
Result<std::uint64_t> parseUnsigned(std::string_view text);
/// Finite decimal numbers.
Result<double> parseDecimal(std::string_view text);
/// true or false.
Result<bool> parseBool(std::string_view text);
/// "4 GiB", "512 MiB", "1.5 GB", "1073741824"; units B, kB, KiB, MB, MiB, GB, GiB, TB, TiB. A whole number of bytes.
Result<std::uint64_t> parseBytes(std::string_view text);
/// "ttft p95 <= 650 ms"; also ≤ and seconds.
Result<SloTarget> parseSloTarget(std::string_view text);

/// The shortest text that parseDecimal() turns into the same number.
std::string decimalText(double value);
/// With the largest unit that keeps a whole number.
std::string bytesText(std::uint64_t bytes);
/// The canonical form: "ttft p95 <= 650 ms".
std::string sloTargetText(const SloTarget& target);
/// Text in double quotes, escaped as YAML and JSON both read it.
std::string quotedText(std::string_view text);

/// The text in single quotes as it may stand in a message: at most 48 bytes in whole characters, on one line.
std::string quotedWord(std::string_view text);

/// Of `candidates`, the one that `word` is most likely a slip of; empty if none is near.
template <class Candidates>
std::string_view nearestWord(std::string_view word, const Candidates& candidates);
/// Insertions, deletions and replacements of one byte between two words.
std::size_t editDistance(std::string_view a, std::string_view b);

template <class Candidates>
std::string_view nearestWord(std::string_view word, const Candidates& candidates) {
    std::string_view best;
    std::size_t least = word.size() < 4 ? 2 : word.size() / 3 + 1;  // farther away is another word, not a slip
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = editDistance(word, candidate);
        if (distance < least || (distance == least && best.empty())) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

}  // namespace firsttoken::engine
