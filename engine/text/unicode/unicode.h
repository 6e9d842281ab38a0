#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

/// Character classes and case of the Unicode standard (version: unicodeVersion()). Pure functions: any thread.
namespace firsttoken::engine {

/// General categories, as far as tokenizers and templates tell them apart. The generated tables hold these numbers.
enum class CharacterClass : std::uint8_t {
    Other,           ///< C*: control, format, unassigned …
    UpperLetter,     ///< Lu
    LowerLetter,     ///< Ll
    TitleLetter,     ///< Lt
    ModifierLetter,  ///< Lm
    OtherLetter,     ///< Lo
    Mark,            ///< M*
    DecimalNumber,   ///< Nd
    OtherNumber,     ///< Nl, No
    Punctuation,     ///< P*
    Symbol,          ///< S*
    Separator,       ///< Z*
};

/// A class, and whether the code point has the property White_Space.
struct CharacterTraits {
    CharacterClass characterClass = CharacterClass::Other;
    bool whiteSpace = false;

    bool letter() const {
        return characterClass >= CharacterClass::UpperLetter && characterClass <= CharacterClass::OtherLetter;
    }
    bool mark() const { return characterClass == CharacterClass::Mark; }
    bool number() const {
        return characterClass == CharacterClass::DecimalNumber || characterClass == CharacterClass::OtherNumber;
    }
    bool punctuation() const { return characterClass == CharacterClass::Punctuation; }
    bool symbol() const { return characterClass == CharacterClass::Symbol; }
};

CharacterTraits traitsOf(char32_t codePoint);
std::string_view unicodeVersion();

enum class LetterCase { Lower, Title, Upper };
/// The full, context-free mapping; one to three code points are appended.
void appendCased(std::vector<char32_t>& out, char32_t codePoint, LetterCase to);

}  // namespace firsttoken::engine
