#include "engine/text/pretokenize/code_points.h"

#include "engine/text/unicode/unicode.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine {

namespace {

CodePointFlags flagsOf(char32_t codePoint) {
    const CharacterTraits traits = traitsOf(codePoint);
    CodePointFlags flags = 0;
    const auto set = [&flags](bool condition, CodePointFlags flag) {
        if (condition) flags = static_cast<CodePointFlags>(flags | flag);
    };
    const CharacterClass c = traits.characterClass;
    const bool caseless = c == CharacterClass::ModifierLetter || c == CharacterClass::OtherLetter || traits.mark();
    set(traits.letter(), letterFlag);
    set(traits.number(), numberFlag);
    set(traits.mark(), markFlag);
    set(traits.punctuation(), punctuationFlag);
    set(traits.symbol(), symbolFlag);
    set(traits.whiteSpace, spaceFlag);
    set(codePoint == U'\r' || codePoint == U'\n', newlineFlag);
    set(caseless || c == CharacterClass::UpperLetter || c == CharacterClass::TitleLetter, upperFlag);
    set(caseless || c == CharacterClass::LowerLetter, lowerFlag);
    set(c == CharacterClass::DecimalNumber, decimalFlag);
    return flags;
}

}  // namespace

CodePoints::CodePoints(std::string_view text) {
    points.reserve(text.size());
    flags.reserve(text.size());
    offsets.reserve(text.size() + 1);
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decodeUtf8(text, at);
        points.push_back(character.codePoint);
        flags.push_back(flagsOf(character.codePoint));
        offsets.push_back(at);
        at += character.length;
    }
    offsets.push_back(text.size());
}

}  // namespace firsttoken::engine
