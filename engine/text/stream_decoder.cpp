#include "engine/text/stream_decoder.h"

#include "engine/text/utf8.h"

namespace firsttoken::engine {

std::string StreamDecoder::push(std::string_view bytes) {
    m_pending += bytes;
    std::string out;
    std::size_t at = 0;
    while (at < m_pending.size()) {
        const Utf8Character character = decodeUtf8(m_pending, at);
        if (character.state == Utf8State::Incomplete) break;
        if (character.state == Utf8State::Valid) {
            out.append(m_pending, at, character.length);
        } else {
            out += replacementUtf8;
        }
        at += character.length;
    }
    m_pending.erase(0, at);
    return out;
}

std::string StreamDecoder::flush() {
    if (m_pending.empty()) return {};
    m_pending.clear();
    return std::string(replacementUtf8);
}

}  // namespace firsttoken::engine
