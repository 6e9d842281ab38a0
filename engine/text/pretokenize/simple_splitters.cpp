#include <algorithm>
#include <string_view>

#include "engine/text/pretokenize/scan.h"
#include "engine/text/pretokenize/splitters.h"

namespace firsttoken::engine::splitters {

namespace {

/// ` ?RUN`: an optional space, then at least one code point up to `runEnd`; the end, or `at`.
template <class Run>
std::size_t afterSpace(const CodePoints& text, std::size_t at, Run run) {
    const std::size_t from = text.points[at] == U' ' ? at + 1 : at;
    const std::size_t runEnd = run(from);
    return runEnd > from ? runEnd : at;
}

/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)
std::size_t gpt2Match(const CodePoints& text, std::size_t at, std::size_t end) {
    std::size_t matchEnd = contraction(text, at, end, false);
    for (const CodePointFlags wanted : {letterFlag, numberFlag}) {
        if (matchEnd > at) return matchEnd;
        matchEnd = afterSpace(text, at, [&](std::size_t from) { return runOf(text, from, end, wanted); });
    }
    if (matchEnd > at) return matchEnd;
    matchEnd = afterSpace(
        text, at, [&](std::size_t from) { return runWithout(text, from, end, spaceFlag | letterFlag | numberFlag); });
    if (matchEnd > at) return matchEnd;
    const std::size_t runEnd = runOf(text, at, end, spaceFlag);
    if (runEnd == at || runEnd == end) return runEnd;
    return runEnd - 1;  // == at for a single one
}

void splitByFlag(const CodePoints& text, Piece piece, std::vector<Piece>& out, CodePointFlags flag, std::size_t most) {
    splitByMatches(piece, out,
                   [&](std::size_t at) { return runOf(text, at, at + std::min(most, piece.end - at), flag); });
}

constexpr std::size_t anyLength = static_cast<std::size_t>(-1);

bool asciiDigit(char32_t c) { return c >= U'0' && c <= U'9'; }

void splitByPunctuation(const CodePoints& text, Piece piece, std::vector<Piece>& out, std::u32string_view symbols) {
    const auto wanted = [&](std::size_t i) {
        return has(text, i, punctuationFlag) || symbols.find(text.points[i]) != symbols.npos;
    };
    splitByMatches(piece, out, [&](std::size_t at) {
        while (at < piece.end && wanted(at)) ++at;
        return at;
    });
}

/// The end of the run of \d from `at`.
std::size_t decimalRun(const CodePoints& text, std::size_t at, std::size_t end) {
    return runOf(text, at, end, decimalFlag);
}

/// A run of decimal digits in groups of three from its right end.
void groupFromRight(Piece run, std::vector<Piece>& out) {
    std::size_t at = run.begin;
    std::size_t groupEnd = at + ((run.end - run.begin) % 3 == 0 ? 3 : (run.end - run.begin) % 3);
    for (; at < run.end; at = groupEnd, groupEnd += 3) out.push_back({at, groupEnd});
}

}  // namespace

void gpt2(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByMatches(piece, out, [&](std::size_t at) { return gpt2Match(text, at, piece.end); });
}

void numberEach(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByFlag(text, piece, out, numberFlag, 1);
}

void numberRuns(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByFlag(text, piece, out, numberFlag, anyLength);
}

void numbersToThree(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByFlag(text, piece, out, numberFlag, 3);
}

void threeDigits(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByMatches(piece, out, [&](std::size_t at) {
        const bool three = piece.end - at >= 3 && asciiDigit(text.points[at]) && asciiDigit(text.points[at + 1]) &&
                           asciiDigit(text.points[at + 2]);
        return three ? at + 3 : at;
    });
}

void digitsFromRight(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    // The matches are empty: they only cut, so that what is no digit stays with the first group's remainder.
    std::size_t gap = piece.begin;
    for (std::size_t at = piece.begin; at < piece.end;) {
        const std::size_t runEnd = decimalRun(text, at, piece.end);
        if (runEnd == at) {
            ++at;
            continue;
        }
        for (std::size_t i = at; i < runEnd; ++i) {
            if ((runEnd - i) % 3 != 0 || i == gap) continue;
            out.push_back({gap, i});
            gap = i;
        }
        at = runEnd;
    }
    if (gap < piece.end) out.push_back({gap, piece.end});
}

void digitsToBoundary(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    std::size_t gap = piece.begin;
    for (std::size_t at = piece.begin; at < piece.end;) {
        const std::size_t runEnd = decimalRun(text, at, piece.end);
        const bool boundary = runEnd == piece.end ||
                              (!has(text, runEnd, letterFlag | decimalFlag | markFlag) && text.points[runEnd] != U'_');
        if (runEnd > at && boundary) {
            if (gap < at) out.push_back({gap, at});
            groupFromRight({at, runEnd}, out);
            gap = runEnd;
        }
        at = runEnd > at ? runEnd : at + 1;
    }
    if (gap < piece.end) out.push_back({gap, piece.end});
}

void punctuationRuns(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByPunctuation(text, piece, out, U"$+<=>^~|");
}

void falconPunctuation(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByPunctuation(text, piece, out, U"$+<=>^~|`");
}

void bloomWords(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    constexpr std::u32string_view excluded = U"(|.,!?…。，、।۔،)";
    splitByMatches(piece, out, [&](std::size_t at) {
        return afterSpace(text, at, [&](std::size_t from) {
            while (from < piece.end && !has(text, from, spaceFlag) &&
                   excluded.find(text.points[from]) == excluded.npos) {
                ++from;
            }
            return from;
        });
    });
}

void lines(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByMatches(piece, out, [&](std::size_t at) {
        const bool newline = text.points[at] == U'\n';
        while (at < piece.end && (text.points[at] == U'\n') == newline) ++at;
        return at;
    });
}

}  // namespace firsttoken::engine::splitters
