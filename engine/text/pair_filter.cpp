#include "engine/text/pair_filter.h"

#include "engine/text/utf8.h"

namespace firsttoken::engine {

std::size_t PairFilter::slotOf(std::string_view first, std::string_view second) {
    std::uint64_t key = 0;
    for (const char byte : first) key = (key << 8U) | static_cast<unsigned char>(byte);
    for (const char byte : second) key = (key << 8U) | static_cast<unsigned char>(byte);
    key *= 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(key >> 42U);
}

void PairFilter::add(std::string_view token) {
    std::string_view previous;
    for (std::size_t at = 0; at < token.size();) {
        const std::string_view character = token.substr(at, decodeUtf8(token, at).length);
        if (!previous.empty()) m_bits[slotOf(previous, character)] = true;
        previous = character;
        at += character.size();
    }
}

}  // namespace firsttoken::engine
