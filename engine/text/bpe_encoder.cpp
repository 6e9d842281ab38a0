#include "engine/text/bpe_encoder.h"

#include <bit>

#include "engine/text/byte_alphabet.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine {

namespace {

std::uint64_t pairOf(std::int32_t left, std::int32_t right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U) | static_cast<std::uint32_t>(right);
}

std::size_t slotOf(std::uint64_t pair, std::size_t mask) {
    pair ^= pair >> 29U;
    pair *= 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(pair >> 32U) & mask;
}

}  // namespace

BpeEncoder::BpeEncoder(const Vocabulary& vocabulary)
    : m_vocabulary(vocabulary), m_raw(vocabulary.model == VocabularyModel::RawBpe) {
    m_merges.resize(std::bit_ceil(2 * vocabulary.merges.size() + 1));
    std::string whole;
    for (std::size_t rank = 0; rank < vocabulary.merges.size(); ++rank) {
        const std::string_view line = vocabulary.merges[rank];
        const std::size_t space = line.find(' ', 1);
        const std::string_view left = line.substr(0, space);
        const std::string_view right = line.substr(space + 1);
        whole.assign(left).append(right);
        addMerge(intern(left), intern(right), static_cast<std::int32_t>(rank), intern(whole));
    }
    for (std::size_t byte = 0; byte < m_byteSymbols.size(); ++byte) {
        m_byteSymbols[byte] = lookUp(alphabetCharacter(static_cast<unsigned char>(byte)));
    }
    if (m_raw) m_byteFallback = byteFallbackTokens(vocabulary);
}

BpeEncoder::SymbolId BpeEncoder::lookUp(std::string_view text) const {
    if (const auto id = m_vocabulary.index.find(text)) return *id;
    const auto extra = m_extras.find(text);
    return extra == m_extras.end() ? -1 : extra->second;
}

BpeEncoder::SymbolId BpeEncoder::intern(std::string_view text) {
    const SymbolId known = lookUp(text);
    if (known >= 0) return known;
    const auto id = static_cast<SymbolId>(m_vocabulary.size() + m_extras.size());
    m_extraTexts.emplace_back(text);
    m_extras.emplace(m_extraTexts.back(), id);
    return id;
}

void BpeEncoder::addMerge(SymbolId left, SymbolId right, std::int32_t rank, SymbolId result) {
    const std::uint64_t pair = pairOf(left, right);
    const std::size_t mask = m_merges.size() - 1;
    std::size_t at = slotOf(pair, mask);
    while (m_merges[at].pair != emptyPair) {
        if (m_merges[at].pair == pair) return;  // the lower rank counts
        at = (at + 1) & mask;
    }
    m_merges[at] = {pair, rank, result};
}

const BpeEncoder::Merge* BpeEncoder::findMerge(SymbolId left, SymbolId right) const {
    if (left < 0 || right < 0) return nullptr;
    const std::uint64_t pair = pairOf(left, right);
    const std::size_t mask = m_merges.size() - 1;
    for (std::size_t at = slotOf(pair, mask); m_merges[at].pair != emptyPair; at = (at + 1) & mask) {
        if (m_merges[at].pair == pair) return &m_merges[at];
    }
    return nullptr;
}

void BpeEncoder::encode(std::string_view text, std::vector<TokenId>& out) const {
    std::string clean;
    if (!isValidUtf8(text)) {
        clean = sanitizeUtf8(text);
        text = clean;
    }
    const CodePoints points(text);
    SymbolChain chain;
    for (const Piece piece : engine::split(*m_vocabulary.pre, points)) {
        const std::size_t begin = points.offsets[piece.begin];
        encodePiece(text.substr(begin, points.offsets[piece.end] - begin), chain, out);
    }
}

void BpeEncoder::encodePiece(std::string_view piece, SymbolChain& chain, std::vector<TokenId>& out) const {
    const bool newlines = m_raw && piece.find_first_not_of('\n') == std::string_view::npos;
    if (m_vocabulary.pre->ignoreMerges || newlines) {
        const auto whole = m_vocabulary.index.find(m_raw ? std::string(piece) : toByteAlphabet(piece));
        if (whole) {
            out.push_back(*whole);
            return;
        }
    }
    fillChain(piece, chain);
    chain.joinAll([this](const SymbolChain::Symbol& left, const SymbolChain::Symbol& right) -> SymbolChain::Join {
        const Merge* merge = findMerge(left.id, right.id);
        if (merge == nullptr) return {};
        return {static_cast<std::uint32_t>(merge->rank), merge->result};
    });
    appendIds(piece, chain, out);
}

void BpeEncoder::fillChain(std::string_view piece, SymbolChain& chain) const {
    chain.clear();
    for (std::size_t at = 0; at < piece.size();) {
        const std::size_t length = m_raw ? decodeUtf8(piece, at).length : 1;
        const SymbolId id =
            m_raw ? lookUp(piece.substr(at, length)) : m_byteSymbols[static_cast<unsigned char>(piece[at])];
        chain.append(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length), id);
        at += length;
    }
}

void BpeEncoder::appendIds(std::string_view piece, const SymbolChain& chain, std::vector<TokenId>& out) const {
    chain.forEach([&](const SymbolChain::Symbol& symbol) {
        if (symbol.id >= 0 && static_cast<std::size_t>(symbol.id) < m_vocabulary.size()) {
            out.push_back(symbol.id);
            return;
        }
        // Not a token: its bytes one by one; those that are no tokens either are lost.
        for (const char byte : piece.substr(symbol.start, symbol.length)) {
            const auto index = static_cast<unsigned char>(byte);
            const SymbolId id = m_raw ? m_byteFallback[index] : m_byteSymbols[index];
            if (id >= 0 && static_cast<std::size_t>(id) < m_vocabulary.size()) out.push_back(id);
        }
    });
}

}  // namespace firsttoken::engine
