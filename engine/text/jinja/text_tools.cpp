#include "engine/text/jinja/text_tools.h"

#include "engine/text/unicode/unicode.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine::jinja {

bool isSpace(char32_t codePoint) { return traitsOf(codePoint).whiteSpace || (codePoint >= 0x1C && codePoint <= 0x1F); }

std::size_t leadingSpace(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const Utf8Character character = decodeUtf8(text, at);
        if (!isSpace(character.codePoint)) break;
        at += character.length;
    }
    return at;
}

std::size_t trailingSpace(std::string_view text) {
    std::size_t end = text.size();
    while (end > 0) {
        std::size_t start = end - 1;
        while (start > 0 && end - start < 4 && isContinuationByte(text[start])) --start;
        if (!isSpace(decodeUtf8(text, start).codePoint)) break;
        end = start;
    }
    return text.size() - end;
}

std::vector<std::size_t> characterOffsets(std::string_view text) {
    std::vector<std::size_t> offsets;
    offsets.reserve(text.size() + 1);
    for (std::size_t at = 0; at < text.size(); at += decodeUtf8(text, at).length) offsets.push_back(at);
    offsets.push_back(text.size());
    return offsets;
}

}  // namespace firsttoken::engine::jinja
