#include "engine/text/jinja/string_operations.h"

#include <algorithm>

#include "engine/text/jinja/template_error.h"
#include "engine/text/jinja/text_tools.h"
#include "engine/text/jinja/value.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine::jinja {

namespace {

constexpr std::int64_t maxWidth = 1'000'000;

/// The start of the character that ends before `end` (> 0).
std::size_t characterBefore(std::string_view text, std::size_t end) {
    std::size_t start = end - 1;
    while (start > 0 && end - start < 4 && isContinuationByte(text[start])) --start;
    return start;
}

/// Applies `change(codePoint, out)` to every character, which keeps its mark.
template <class Change>
MarkedString mapCharacters(const MarkedString& text, Change change) {
    MarkedString out;
    std::vector<char32_t> changed;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decodeUtf8(text.view(), at);
        changed.clear();
        change(character.codePoint, changed);
        std::string bytes;
        for (const char32_t c : changed) appendUtf8(bytes, c);
        out.append(bytes, text.trustedAt(at));
        at += character.length;
    }
    return out;
}

/// Adds a part to what a split gave so far.
void addPart(std::vector<MarkedString>& parts, MarkedString part) {
    if (parts.size() >= maxItems) failTooManyItems();
    parts.push_back(std::move(part));
}

bool isCased(char32_t c) {
    const CharacterClass characterClass = traitsOf(c).characterClass;
    return characterClass == CharacterClass::UpperLetter || characterClass == CharacterClass::LowerLetter ||
           characterClass == CharacterClass::TitleLetter;
}

/// What is left after the last split keeps its white space at the far end, as in Python.
std::vector<MarkedString> splitAtSpace(const MarkedString& text, std::int64_t most) {
    std::vector<MarkedString> parts;
    const std::string_view all = text.view();
    for (std::size_t at = leadingSpace(all); at < all.size();) {
        if (most >= 0 && static_cast<std::int64_t>(parts.size()) == most) {
            addPart(parts, text.cut(at));
            break;
        }
        std::size_t end = at;
        while (end < all.size() && leadingSpace(all.substr(end, 4)) == 0) end += decodeUtf8(all, end).length;
        addPart(parts, text.cut(at, end - at));
        at = end + leadingSpace(all.substr(end));
    }
    return parts;
}

std::vector<MarkedString> splitAtSpaceFromRight(const MarkedString& text, std::int64_t most) {
    std::vector<MarkedString> parts;
    const std::string_view all = text.view();
    for (std::size_t end = all.size() - trailingSpace(all); end > 0;) {
        if (most >= 0 && static_cast<std::int64_t>(parts.size()) == most) {
            addPart(parts, text.cut(0, end));
            break;
        }
        std::size_t at = end;
        while (at > 0 && !isSpace(decodeUtf8(all, characterBefore(all, at)).codePoint)) at = characterBefore(all, at);
        addPart(parts, text.cut(at, end - at));
        end = at - trailingSpace(all.substr(0, at));
    }
    std::reverse(parts.begin(), parts.end());
    return parts;
}

bool isLineEnd(char32_t c) {
    return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

}  // namespace

MarkedString strip(const MarkedString& text, Side side, std::optional<std::string_view> characters) {
    const std::string_view all = text.view();
    std::size_t begin = 0;
    std::size_t end = all.size();
    const auto inSet = [&](std::size_t at, std::size_t length) {
        return characters->find(all.substr(at, length)) != std::string_view::npos;
    };
    if (side != Side::Right) {
        if (!characters) {
            begin = leadingSpace(all);
        } else {
            while (begin < end && inSet(begin, decodeUtf8(all, begin).length)) begin += decodeUtf8(all, begin).length;
        }
    }
    if (side != Side::Left) {
        if (!characters) {
            end -= trailingSpace(all.substr(begin));
        } else {
            for (std::size_t start = end; end > begin; end = start) {
                start = characterBefore(all, end);
                if (!inSet(start, end - start)) break;
            }
        }
    }
    return text.cut(begin, end - begin);
}

std::vector<MarkedString> split(const MarkedString& text, std::optional<std::string_view> separator, std::int64_t most,
                                bool fromRight) {
    if (!separator) return fromRight ? splitAtSpaceFromRight(text, most) : splitAtSpace(text, most);
    if (separator->empty()) throw TemplateError("empty separator");
    std::vector<MarkedString> parts;
    const std::string& all = text.bytes();
    if (fromRight) {
        std::size_t end = all.size();
        while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
            if (end < separator->size()) break;
            const std::size_t found = all.rfind(*separator, end - separator->size());
            if (found == std::string::npos) break;
            addPart(parts, text.cut(found + separator->size(), end - found - separator->size()));
            end = found;
        }
        addPart(parts, text.cut(0, end));
        std::reverse(parts.begin(), parts.end());
        return parts;
    }
    std::size_t begin = 0;
    while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
        const std::size_t found = all.find(*separator, begin);
        if (found == std::string::npos) break;
        addPart(parts, text.cut(begin, found - begin));
        begin = found + separator->size();
    }
    addPart(parts, text.cut(begin));
    return parts;
}

std::vector<MarkedString> splitLines(const MarkedString& text, bool keepEnds) {
    std::vector<MarkedString> lines;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decodeUtf8(text.view(), at);
        std::size_t end = at + character.length;
        if (isLineEnd(character.codePoint)) {
            if (character.codePoint == U'\r' && end < text.size() && text.bytes()[end] == '\n') ++end;
            addPart(lines, text.cut(begin, (keepEnds ? end : at) - begin));
            begin = end;
        }
        at = end;
    }
    if (begin < text.size()) addPart(lines, text.cut(begin));
    return lines;
}

MarkedString replace(const MarkedString& text, std::string_view old, const MarkedString& with, std::int64_t most) {
    MarkedString out;
    const std::string& all = text.bytes();
    std::size_t at = 0;
    for (std::int64_t count = 0; most < 0 || count < most; ++count) {
        const std::size_t found = all.find(old, at);
        if (found == std::string::npos) break;
        if (old.empty() && found >= all.size()) {
            out.append(with);
            break;
        }
        out.append(text, at, found - at);
        out.append(with);
        at = found + old.size();
        if (old.empty()) {
            const std::size_t length = decodeUtf8(all, found).length;
            out.append(text, found, length);
            at = found + length;
        }
    }
    out.append(text, at, all.size());
    return out;
}

MarkedString toCase(const MarkedString& text, LetterCase to) {
    return mapCharacters(text, [to](char32_t c, std::vector<char32_t>& out) { appendCased(out, c, to); });
}

MarkedString capitalize(const MarkedString& text) {
    bool first = true;
    return mapCharacters(text, [&first](char32_t c, std::vector<char32_t>& out) {
        appendCased(out, c, first ? LetterCase::Title : LetterCase::Lower);
        first = false;
    });
}

MarkedString titleWords(const MarkedString& text) {
    bool afterCased = false;
    return mapCharacters(text, [&afterCased](char32_t c, std::vector<char32_t>& out) {
        appendCased(out, c, afterCased ? LetterCase::Lower : LetterCase::Title);
        afterCased = isCased(c);
    });
}

MarkedString swapCase(const MarkedString& text) {
    return mapCharacters(text, [](char32_t c, std::vector<char32_t>& out) {
        const CharacterClass characterClass = traitsOf(c).characterClass;
        if (characterClass == CharacterClass::UpperLetter) return appendCased(out, c, LetterCase::Lower);
        if (characterClass == CharacterClass::LowerLetter) return appendCased(out, c, LetterCase::Upper);
        out.push_back(c);
    });
}

MarkedString pad(const MarkedString& text, std::int64_t width, Side filled, std::string_view fill) {
    if (width > maxWidth) throw TemplateError("a width is too large (1,000,000)");
    const auto length = static_cast<std::int64_t>(countCodePoints(text.view()));
    if (width <= length) return text;
    const std::int64_t missing = width - length;
    // Python's rounding when both sides are filled.
    const std::int64_t left = filled == Side::Left    ? missing
                              : filled == Side::Right ? 0
                                                      : missing / 2 + (missing & width & 1);
    MarkedString out;
    for (std::int64_t i = 0; i < left; ++i) out.append(fill, true);
    out.append(text);
    for (std::int64_t i = left; i < missing; ++i) out.append(fill, true);
    return out;
}

MarkedString join(const std::vector<MarkedString>& parts, const MarkedString& separator) {
    MarkedString out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) out.append(separator);
        out.append(parts[i]);
    }
    return out;
}

}  // namespace firsttoken::engine::jinja
