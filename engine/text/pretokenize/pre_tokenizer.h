#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/pretokenize/code_points.h"

namespace firsttoken::engine {

/// Cuts one piece into smaller ones: what the expression matches, and the gaps between, in order. Linear time.
using Splitter = void (*)(const CodePoints& text, Piece piece, std::vector<Piece>& out);

/// What `tokenizer.ggml.pre` names: the expressions, one after the other on the pieces of the last, and the rules
/// that go with them.
struct PreTokenizer {
    std::string_view family;
    std::span<const Splitter> splitters;
    bool ignoreMerges = false;  ///< a piece that is a token is taken whole
    bool addBos = false;        ///< unless add_bos_token says otherwise
    bool rawUtf8 = false;       ///< symbols are characters, spaces U+2581; not the byte alphabet
};

/// Null for a name that this build does not know.
const PreTokenizer* findPreTokenizer(std::string_view name);
/// All names, for messages: "bloom, chatglm-bpe, …".
std::string knownPreTokenizers();

std::vector<Piece> split(const PreTokenizer& pre, const CodePoints& text);

}  // namespace firsttoken::engine
