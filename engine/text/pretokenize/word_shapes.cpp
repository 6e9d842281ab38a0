#include <algorithm>

#include "engine/text/pretokenize/scan.h"
#include "engine/text/pretokenize/splitters.h"

namespace firsttoken::engine::splitters {

namespace {

enum class Words { Letters, LettersAndMarks, ByCase, ByCaseWithContractions };

/// One expression of the shape
///   contraction | [^\r\n\p{L}\p{N}]?WORD | NUMBER | ` ?[^\s\p{L}\p{N}]+TAIL` | \s*[\r\n]+ | \s+(?!\S) | \s+
struct Shape {
    bool contractionsFirst = true;
    Words words = Words::Letters;
    std::size_t maxDigits = 3;  ///< of \p{N}{1,maxDigits}
    CodePointFlags notPunctuation = spaceFlag | letterFlag | numberFlag;
    CodePointFlags punctuationTail = newlineFlag;
    bool slashInTail = false;  ///< TAIL is [\r\n/]*
};

/// U*L+ from `at`, U the upper and L the lower class (letters without case and marks are in both): the end, or `at`.
std::size_t wordEndingLower(const CodePoints& text, std::size_t at, std::size_t end) {
    const std::size_t upperEnd = runOf(text, at, end, upperFlag);
    const std::size_t lowerEnd = runOf(text, upperEnd, end, lowerFlag);
    if (lowerEnd > upperEnd) return lowerEnd;
    // U* gives back as little as it can: up to the last of its characters that is in L, too.
    for (std::size_t i = upperEnd; i > at; --i) {
        if (has(text, i - 1, lowerFlag)) return i;
    }
    return at;
}

/// U+L* from `at`: the end, or `at`.
std::size_t wordStartingUpper(const CodePoints& text, std::size_t at, std::size_t end) {
    const std::size_t upperEnd = runOf(text, at, end, upperFlag);
    return upperEnd == at ? at : runOf(text, upperEnd, end, lowerFlag);
}

/// [^\r\n\p{L}\p{N}]?WORD, where `word` finds WORD: with the leading character if that succeeds, else without.
template <class Word>
std::size_t withLead(const CodePoints& text, std::size_t at, std::size_t end, Word word) {
    if (at + 1 < end && !has(text, at, newlineFlag | letterFlag | numberFlag)) {
        const std::size_t wordEnd = word(at + 1);
        if (wordEnd > at + 1) return wordEnd;
    }
    return word(at);
}

template <Shape shape>
std::size_t word(const CodePoints& text, std::size_t at, std::size_t end) {
    if constexpr (shape.words == Words::Letters || shape.words == Words::LettersAndMarks) {
        constexpr CodePointFlags wanted = shape.words == Words::Letters ? letterFlag : letterFlag | markFlag;
        return withLead(text, at, end, [&](std::size_t from) { return runOf(text, from, end, wanted); });
    } else {
        std::size_t wordEnd =
            withLead(text, at, end, [&](std::size_t from) { return wordEndingLower(text, from, end); });
        if (wordEnd == at) {
            wordEnd = withLead(text, at, end, [&](std::size_t from) { return wordStartingUpper(text, from, end); });
        }
        if (shape.words == Words::ByCaseWithContractions && wordEnd > at && wordEnd < end) {
            return contraction(text, wordEnd, end, true);
        }
        return wordEnd;
    }
}

/// \s*[\r\n]+ | \s+(?!\S) | \s+
std::size_t whiteSpace(const CodePoints& text, std::size_t at, std::size_t end) {
    const std::size_t runEnd = runOf(text, at, end, spaceFlag);
    if (runEnd == at) return at;
    for (std::size_t i = runEnd; i > at; --i) {
        // Greedy white space gives back only the last newline.
        if (has(text, i - 1, newlineFlag)) return i;
    }
    return runEnd == end || runEnd == at + 1 ? runEnd : runEnd - 1;
}

template <Shape shape>
std::size_t punctuation(const CodePoints& text, std::size_t at, std::size_t end) {
    const std::size_t from = text.points[at] == U' ' ? at + 1 : at;
    std::size_t runEnd = runWithout(text, from, end, shape.notPunctuation);
    if (runEnd == from) return at;
    const auto inTail = [&](std::size_t i) {
        return has(text, i, shape.punctuationTail) || (shape.slashInTail && text.points[i] == U'/');
    };
    while (runEnd < end && inTail(runEnd)) ++runEnd;
    return runEnd;
}

template <Shape shape>
void splitByShape(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    const std::size_t end = piece.end;
    splitByMatches(piece, out, [&](std::size_t at) {
        if (shape.contractionsFirst) {
            const std::size_t matchEnd = contraction(text, at, end, true);
            if (matchEnd > at) return matchEnd;
        }
        const std::size_t wordEnd = word<shape>(text, at, end);
        if (wordEnd > at) return wordEnd;
        const std::size_t numberEnd = runOf(text, at, at + std::min(shape.maxDigits, end - at), numberFlag);
        if (numberEnd > at) return numberEnd;
        const std::size_t punctuationEnd = punctuation<shape>(text, at, end);
        return punctuationEnd > at ? punctuationEnd : whiteSpace(text, at, end);
    });
}

constexpr std::size_t anyNumber = static_cast<std::size_t>(-1);

}  // namespace

void llama3(const CodePoints& text, Piece piece, std::vector<Piece>& out) { splitByShape<Shape{}>(text, piece, out); }

void qwen2(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByShape<Shape{.maxDigits = 1}>(text, piece, out);
}

void qwen35(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByShape<Shape{.words = Words::LettersAndMarks,
                       .maxDigits = 1,
                       .notPunctuation = spaceFlag | letterFlag | markFlag | numberFlag}>(text, piece, out);
}

void minicpm5(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByShape<Shape{.maxDigits = anyNumber}>(text, piece, out);
}

void seedCoder(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByShape<Shape{.maxDigits = 1, .punctuationTail = 0}>(text, piece, out);
}

void gpt4o(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByShape<Shape{.contractionsFirst = false, .words = Words::ByCaseWithContractions, .slashInTail = true}>(
        text, piece, out);
}

void tekken(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    splitByShape<Shape{.contractionsFirst = false, .words = Words::ByCase, .maxDigits = 1, .slashInTail = true}>(
        text, piece, out);
}

namespace {

/// [!-/:-@[-`{-~][A-Za-z]+ : the end, or `at`.
std::size_t asciiPunctuationWord(const CodePoints& text, std::size_t at, std::size_t end) {
    const auto asciiLetter = [](char32_t c) { return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z'); };
    const char32_t c = text.points[at];
    const bool asciiPunctuation = c > U' ' && c < 0x7F && !asciiLetter(c) && !(c >= U'0' && c <= U'9');
    if (!asciiPunctuation) return at;
    std::size_t i = at + 1;
    while (i < end && asciiLetter(text.points[i])) ++i;
    return i == at + 1 ? at : i;
}

/// [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+ : the end, or `at`.
std::size_t wordWithMarks(const CodePoints& text, std::size_t at, std::size_t end) {
    if (at + 1 < end && !has(text, at, newlineFlag | letterFlag | punctuationFlag | symbolFlag)) {
        const std::size_t runEnd = runOf(text, at + 1, end, letterFlag | markFlag);
        if (runEnd > at + 1) return runEnd;
    }
    return runOf(text, at, end, letterFlag | markFlag);
}

}  // namespace

void deepseekV3(const CodePoints& text, Piece piece, std::vector<Piece>& out) {
    const std::size_t end = piece.end;
    splitByMatches(piece, out, [&](std::size_t at) {
        const std::size_t asciiEnd = asciiPunctuationWord(text, at, end);
        if (asciiEnd > at) return asciiEnd;
        const std::size_t wordEnd = wordWithMarks(text, at, end);
        if (wordEnd > at) return wordEnd;
        const std::size_t from = text.points[at] == U' ' ? at + 1 : at;
        const std::size_t runEnd = runOf(text, from, end, punctuationFlag | symbolFlag);
        if (runEnd > from) return runOf(text, runEnd, end, newlineFlag);
        return whiteSpace(text, at, end);
    });
}

}  // namespace firsttoken::engine::splitters
