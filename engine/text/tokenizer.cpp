#include "engine/text/tokenizer.h"

#include "engine/text/byte_alphabet.h"

namespace firsttoken::engine {

namespace {

constexpr std::string_view spaceMark = "\xE2\x96\x81";  // U+2581

std::string markSpaces(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 2);
    for (const char c : text) {
        if (c == ' ') {
            out += spaceMark;
        } else {
            out.push_back(c);
        }
    }
    return out;
}

std::string unmarkSpaces(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        if (text.substr(at, spaceMark.size()) == spaceMark) {
            out.push_back(' ');
            at += spaceMark.size();
        } else {
            out.push_back(text[at++]);
        }
    }
    return out;
}

std::optional<unsigned> hexDigit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    return std::nullopt;
}

/// The byte of "<0x41>".
std::optional<char> byteOfToken(std::string_view text) {
    if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return std::nullopt;
    const auto high = hexDigit(text[3]);
    const auto low = hexDigit(text[4]);
    if (!high || !low) return std::nullopt;
    return static_cast<char>(*high * 16 + *low);
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<const Vocabulary> vocabulary)
    : m_vocabulary(std::move(vocabulary)), m_partition(*m_vocabulary) {
    if (m_vocabulary->model == VocabularyModel::Spm) {
        m_spm.emplace(*m_vocabulary);
    } else {
        m_bpe.emplace(*m_vocabulary);
    }
}

void Tokenizer::encodeRaw(std::string_view text, bool prefixSpace, std::vector<TokenId>& out) const {
    if (m_vocabulary->model == VocabularyModel::ByteBpe) {
        m_bpe->encode(text, out);
        return;
    }
    std::string marked = markSpaces(text);
    if (prefixSpace && m_vocabulary->addSpacePrefix) marked.insert(0, spaceMark);
    if (m_spm) {
        m_spm->encode(marked, out);
    } else {
        m_bpe->encode(marked, out);
    }
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, const Trust& trust, bool addBos, bool addEos) const {
    std::vector<TokenId> out;
    const std::vector<Fragment> fragments = m_partition.split(text, trust);
    const auto& bos = m_vocabulary->bos;
    const bool bosIsThere = !fragments.empty() && fragments.front().token == bos;
    if (addBos && m_vocabulary->addBos && bos && !bosIsThere) out.push_back(*bos);
    bool afterSpecial = true;
    for (const Fragment& fragment : fragments) {
        if (fragment.token) {
            out.push_back(*fragment.token);
        } else {
            encodeRaw(fragment.text, afterSpecial, out);
        }
        afterSpecial = fragment.token.has_value();
    }
    if (addEos && m_vocabulary->addEos && m_vocabulary->eos) out.push_back(*m_vocabulary->eos);
    return out;
}

std::string Tokenizer::tokenText(TokenId id) const {
    return m_vocabulary->holds(id) ? std::string(m_vocabulary->textOf(id)) : std::string();
}

std::string Tokenizer::tokenBytes(TokenId id) const {
    const Vocabulary& v = *m_vocabulary;
    if (!v.holds(id)) return {};
    const std::string_view text = v.textOf(id);
    const TokenType type = v.typeOf(id);
    if (type == TokenType::Control || type == TokenType::Unknown) {
        return v.rendered[static_cast<std::size_t>(id)] ? std::string(text) : std::string();
    }
    if (v.model == VocabularyModel::ByteBpe) {
        return type == TokenType::UserDefined ? std::string(text) : fromByteAlphabet(text);
    }
    if (type == TokenType::Byte) {
        if (const auto byte = byteOfToken(text)) return std::string(1, *byte);
    }
    return unmarkSpaces(text);
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
    std::string out;
    for (const TokenId id : ids) out += tokenBytes(id);
    // The space that encode() put before the text; BOS before it is no text.
    if (m_vocabulary->addSpacePrefix && out.starts_with(' ')) out.erase(0, 1);
    return out;
}

}  // namespace firsttoken::engine
