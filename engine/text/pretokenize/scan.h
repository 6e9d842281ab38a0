#pragma once

#include "engine/text/pretokenize/pre_tokenizer.h"

/// Building stones of the scanners. Positions are code points; `end` is the piece's end.
namespace firsttoken::engine {

inline bool has(const CodePoints& text, std::size_t at, CodePointFlags any) { return (text.flags[at] & any) != 0; }

/// The end of the run of code points from `at` that have one of `any`.
inline std::size_t runOf(const CodePoints& text, std::size_t at, std::size_t end, CodePointFlags any) {
    while (at < end && has(text, at, any)) ++at;
    return at;
}
/// The end of the run of code points from `at` that have none of `none`.
inline std::size_t runWithout(const CodePoints& text, std::size_t at, std::size_t end, CodePointFlags none) {
    while (at < end && !has(text, at, none)) ++at;
    return at;
}

/// The end of 's 't 're 've 'm 'll 'd at `at`; `at` if there is none.
inline std::size_t contraction(const CodePoints& text, std::size_t at, std::size_t end, bool ignoreCase) {
    if (text.points[at] != U'\'' || at + 1 >= end) return at;
    const auto letter = [&](std::size_t i) {
        const char32_t c = text.points[i];
        return ignoreCase && c >= U'A' && c <= U'Z' ? c + (U'a' - U'A') : c;
    };
    const char32_t first = letter(at + 1);
    if (first == U's' || first == U't' || first == U'm' || first == U'd') return at + 2;
    if (at + 2 >= end) return at;
    const char32_t second = letter(at + 2);
    const bool two =
        (first == U'r' && second == U'e') || (first == U'v' && second == U'e') || (first == U'l' && second == U'l');
    return two ? at + 3 : at;
}

/// Splits by a matcher `std::size_t match(at)`, which gives the end of the match at `at`, or `at` for none.
template <class Match>
void splitByMatches(Piece piece, std::vector<Piece>& out, Match match) {
    std::size_t gap = piece.begin;
    for (std::size_t at = piece.begin; at < piece.end;) {
        const std::size_t matchEnd = match(at);
        if (matchEnd == at) {
            ++at;
            continue;
        }
        if (gap < at) out.push_back({gap, at});
        out.push_back({at, matchEnd});
        at = gap = matchEnd;
    }
    if (gap < piece.end) out.push_back({gap, piece.end});
}

}  // namespace firsttoken::engine
