#include "engine/text/spm_encoder.h"

#include <fmt/format.h>

#include <queue>

#include "engine/text/symbol_chain.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine {

namespace {

/// A join that may be made: of symbol `left` and its neighbour, if they still span `length` bytes.
struct Join {
    float score;
    std::int32_t left;
    std::uint32_t length;
    TokenId id;

    bool operator<(const Join& other) const { return score != other.score ? score < other.score : left > other.left; }
};

}  // namespace

ByteTokens byteFallbackTokens(const Vocabulary& vocabulary) {
    ByteTokens tokens{};
    for (std::size_t byte = 0; byte < tokens.size(); ++byte) {
        const auto character = static_cast<char>(byte);
        auto id = vocabulary.index.find(fmt::format("<0x{:02X}>", byte));
        if (!id) id = vocabulary.index.find(std::string_view(&character, 1));
        tokens[byte] = id.value_or(-1);
    }
    return tokens;
}

SpmEncoder::SpmEncoder(const Vocabulary& vocabulary)
    : m_vocabulary(vocabulary), m_bytes(byteFallbackTokens(vocabulary)) {}

void SpmEncoder::appendBytes(std::string_view text, std::vector<TokenId>& out) const {
    for (const char byte : text) {
        const TokenId id = m_bytes[static_cast<unsigned char>(byte)];
        if (id >= 0) {
            out.push_back(id);
        } else if (m_vocabulary.unknown) {
            out.push_back(*m_vocabulary.unknown);
        }
    }
}

void SpmEncoder::encode(std::string_view text, std::vector<TokenId>& out) const {
    SymbolChain chain;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = decodeUtf8(text, at).length;
        const auto id = m_vocabulary.index.find(text.substr(at, length));
        chain.append(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length), id.value_or(-1));
        at += length;
    }

    std::priority_queue<Join> joins;
    const auto consider = [&](std::int32_t left) {
        if (left == SymbolChain::none || chain[left].next == SymbolChain::none) return;
        const std::uint32_t length = chain[left].length + chain[chain[left].next].length;
        const auto id = m_vocabulary.index.find(text.substr(chain[left].start, length));
        if (id) joins.push({m_vocabulary.scores[static_cast<std::size_t>(*id)], left, length, *id});
    };
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(chain.size()); ++i) consider(i);
    while (!joins.empty()) {
        const Join join = joins.top();
        joins.pop();
        const auto& left = chain[join.left];
        if (left.length == 0 || left.next == SymbolChain::none) continue;
        if (left.length + chain[left.next].length != join.length) continue;
        chain.joinWithNext(join.left, join.id);
        consider(chain[join.left].previous);
        consider(join.left);
    }

    chain.forEach([&](const SymbolChain::Symbol& symbol) {
        if (symbol.id >= 0) {
            out.push_back(symbol.id);
        } else {
            appendBytes(text.substr(symbol.start, symbol.length), out);
        }
    });
}

}  // namespace firsttoken::engine
