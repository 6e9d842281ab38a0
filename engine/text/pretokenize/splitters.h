#pragma once

#include "engine/text/pretokenize/pre_tokenizer.h"

/// The expressions of facts: tokenizers, section 3.1, each as a hand-written scanner over code-point classes.
namespace firsttoken::engine::splitters {

// Whole-text shapes (word_shapes.cpp). The comments say what tells them apart.
void llama3(const CodePoints& text, Piece piece, std::vector<Piece>& out);      ///< \p{N}{1,3}
void qwen2(const CodePoints& text, Piece piece, std::vector<Piece>& out);       ///< \p{N}
void qwen35(const CodePoints& text, Piece piece, std::vector<Piece>& out);      ///< words with marks
void minicpm5(const CodePoints& text, Piece piece, std::vector<Piece>& out);    ///< \p{N}+
void seedCoder(const CodePoints& text, Piece piece, std::vector<Piece>& out);   ///< punctuation without newlines
void gpt4o(const CodePoints& text, Piece piece, std::vector<Piece>& out);       ///< words by case, contractions
void tekken(const CodePoints& text, Piece piece, std::vector<Piece>& out);      ///< words by case
void deepseekV3(const CodePoints& text, Piece piece, std::vector<Piece>& out);  ///< its third expression

// GPT-2's expression and what is put before or after it (simple_splitters.cpp).
void gpt2(const CodePoints& text, Piece piece, std::vector<Piece>& out);
void numberEach(const CodePoints& text, Piece piece, std::vector<Piece>& out);         ///< \p{N}
void numberRuns(const CodePoints& text, Piece piece, std::vector<Piece>& out);         ///< \p{N}+
void numbersToThree(const CodePoints& text, Piece piece, std::vector<Piece>& out);     ///< \p{N}{1,3}
void threeDigits(const CodePoints& text, Piece piece, std::vector<Piece>& out);        ///< [0-9][0-9][0-9]
void digitsFromRight(const CodePoints& text, Piece piece, std::vector<Piece>& out);    ///< (?=(\d{3})+(?!\d))
void digitsToBoundary(const CodePoints& text, Piece piece, std::vector<Piece>& out);   ///< \d{1,3}(?=(?:\d{3})*\b)
void punctuationRuns(const CodePoints& text, Piece piece, std::vector<Piece>& out);    ///< [\p{P}\$\+<=>\^~\|]+
void falconPunctuation(const CodePoints& text, Piece piece, std::vector<Piece>& out);  ///< that and the backtick
void bloomWords(const CodePoints& text, Piece piece, std::vector<Piece>& out);  ///< ` ?[^(\s|.,!?…。，、।۔،)]+`
void lines(const CodePoints& text, Piece piece, std::vector<Piece>& out);       ///< [^\n]+|[\n]+

// The deepseek families (deepseek_splitters.cpp).
void newlineEach(const CodePoints& text, Piece piece, std::vector<Piece>& out);         ///< [\r\n]
void spacedLetters(const CodePoints& text, Piece piece, std::vector<Piece>& out);       ///< \s?\p{L}+
void spacedPunctuation(const CodePoints& text, Piece piece, std::vector<Piece>& out);   ///< \s?\p{P}+
void spacedCasedLetters(const CodePoints& text, Piece piece, std::vector<Piece>& out);  ///< \s?LETTER+
void spacedWideMarks(const CodePoints& text, Piece piece, std::vector<Piece>& out);     ///< \s?MARK+
void trailingSpace(const CodePoints& text, Piece piece, std::vector<Piece>& out);       ///< \s+$
void cjkRuns(const CodePoints& text, Piece piece, std::vector<Piece>& out);             ///< CJK+
void cjkAndKanaRuns(const CodePoints& text, Piece piece, std::vector<Piece>& out);      ///< [一-龥぀-ゟ゠-ヿ]+

}  // namespace firsttoken::engine::splitters
