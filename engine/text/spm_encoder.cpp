#include "engine/text/spm_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/text/utf8.h"

namespace firsttoken::engine {

namespace {

std::vector<std::uint32_t> ranksOf(std::span<const float> scores) {
    std::vector<float> sorted(scores.begin(), scores.end());
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::vector<std::uint32_t> ranks;
    ranks.reserve(scores.size());
    for (const float score : scores) {
        const auto place = std::lower_bound(sorted.begin(), sorted.end(), score, std::greater<>());
        ranks.push_back(static_cast<std::uint32_t>(place - sorted.begin()));
    }
    return ranks;
}

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
    : m_vocabulary(vocabulary), m_bytes(byteFallbackTokens(vocabulary)), m_ranks(ranksOf(vocabulary.scores)) {
    for (const std::string_view text : vocabulary.texts) m_pairs.add(text);
}

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

std::size_t SpmEncoder::partEnd(std::string_view text, std::size_t begin) const {
    std::string_view character = text.substr(begin, decodeUtf8(text, begin).length);
    for (std::size_t at = begin + character.size(); at < text.size();) {
        const std::string_view next = text.substr(at, decodeUtf8(text, at).length);
        if (!m_pairs.mayJoin(character, next)) return at;
        character = next;
        at += next.size();
    }
    return text.size();
}

void SpmEncoder::encode(std::string_view text, std::vector<TokenId>& out) const {
    SymbolChain chain;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = partEnd(text, begin);
        encodePart(text.substr(begin, end - begin), chain, out);
        begin = end;
    }
}

void SpmEncoder::encodePart(std::string_view text, SymbolChain& chain, std::vector<TokenId>& out) const {
    chain.clear();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = decodeUtf8(text, at).length;
        const auto id = m_vocabulary.index.find(text.substr(at, length));
        chain.append(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length), id.value_or(-1));
        at += length;
    }
    chain.joinAll([&](const SymbolChain::Symbol& left, const SymbolChain::Symbol& right) -> SymbolChain::Join {
        const auto id = m_vocabulary.index.find(text.substr(left.start, left.length + right.length));
        if (!id) return {};
        return {m_ranks[static_cast<std::size_t>(*id)], *id};
    });
    chain.forEach([&](const SymbolChain::Symbol& symbol) {
        if (symbol.id >= 0) {
            out.push_back(symbol.id);
        } else {
            appendBytes(text.substr(symbol.start, symbol.length), out);
        }
    });
}

}  // namespace firsttoken::engine
