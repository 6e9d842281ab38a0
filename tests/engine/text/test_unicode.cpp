#include "engine/text/byte_alphabet.h"
#include "engine/text/unicode/unicode.h"
#include "engine/text/utf8.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestUnicode : public QObject {
    Q_OBJECT
private slots:
    void classes();
    void countsOfTheStandard();
    void cases();
    void byteAlphabet();
};

void TestUnicode::classes() {
    struct Example {
        char32_t codePoint;
        CharacterClass expected;
    };
    for (const Example& example : {Example{U'A', CharacterClass::UpperLetter},
                                   {U'z', CharacterClass::LowerLetter},
                                   {U'ǅ', CharacterClass::TitleLetter},
                                   {U'ʰ', CharacterClass::ModifierLetter},
                                   {U'中', CharacterClass::OtherLetter},
                                   {0x301, CharacterClass::Mark},
                                   {U'7', CharacterClass::DecimalNumber},
                                   {U'Ⅷ', CharacterClass::OtherNumber},
                                   {U'½', CharacterClass::OtherNumber},
                                   {U'!', CharacterClass::Punctuation},
                                   {U'_', CharacterClass::Punctuation},
                                   {U'+', CharacterClass::Symbol},
                                   {U'😀', CharacterClass::Symbol},
                                   {U' ', CharacterClass::Separator},
                                   {U'\n', CharacterClass::Other},
                                   {0x200D, CharacterClass::Other},
                                   {0x20000, CharacterClass::OtherLetter},
                                   {0x2A6DF, CharacterClass::OtherLetter},
                                   {0x2A6E0, CharacterClass::Other},
                                   {0xE0100, CharacterClass::Mark},
                                   {0x10FFFF, CharacterClass::Other},
                                   {0x110000, CharacterClass::Other}}) {
        QCOMPARE(static_cast<int>(traitsOf(example.codePoint).characterClass), static_cast<int>(example.expected));
    }
    for (const char32_t space :
         {0x09, 0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028, 0x202F, 0x205F, 0x3000}) {
        QVERIFY(traitsOf(space).whiteSpace);
    }
    for (const char32_t other : {0x08, 0x1C, 0x21, 0x180E, 0x200B, 0xFEFF}) QVERIFY(!traitsOf(other).whiteSpace);
    QCOMPARE(std::string(unicodeVersion()), std::string("15.0.0"));
}

/// The standard's own totals (Unicode 15.0.0, DerivedGeneralCategory).
void TestUnicode::countsOfTheStandard() {
    std::array<int, 12> counts{};
    for (char32_t c = 0; c <= 0x10FFFF; ++c) ++counts[static_cast<std::size_t>(traitsOf(c).characterClass)];
    const auto count = [&](CharacterClass c) { return counts[static_cast<std::size_t>(c)]; };
    QCOMPARE(count(CharacterClass::UpperLetter), 1831);
    QCOMPARE(count(CharacterClass::LowerLetter), 2233);
    QCOMPARE(count(CharacterClass::TitleLetter), 31);
    QCOMPARE(count(CharacterClass::ModifierLetter), 397);
    QCOMPARE(count(CharacterClass::OtherLetter), 131612);
    QCOMPARE(count(CharacterClass::DecimalNumber), 680);
    QCOMPARE(count(CharacterClass::Separator), 19);
}

void TestUnicode::cases() {
    const auto cased = [](char32_t c, LetterCase to) {
        std::vector<char32_t> out;
        appendCased(out, c, to);
        return std::u32string(out.begin(), out.end());
    };
    QVERIFY(cased(U'a', LetterCase::Upper) == U"A");
    QVERIFY(cased(U'ß', LetterCase::Upper) == U"SS");
    QVERIFY(cased(U'ß', LetterCase::Title) == U"Ss");
    QVERIFY(cased(U'ﬃ', LetterCase::Upper) == U"FFI");
    QVERIFY(cased(U'ǆ', LetterCase::Title) == U"ǅ");
    QVERIFY(cased(U'ǆ', LetterCase::Upper) == U"Ǆ");
    QVERIFY(cased(U'Ї', LetterCase::Lower) == U"ї");
    QVERIFY(cased(U'İ', LetterCase::Lower) == U"i\u0307");
    QVERIFY(cased(U'中', LetterCase::Upper) == U"中");
    QVERIFY(cased(0x10428, LetterCase::Upper) == std::u32string(1, 0x10400));
    QVERIFY(cased(U'ა', LetterCase::Title) == U"ა");
}

void TestUnicode::byteAlphabet() {
    QCOMPARE(toByteAlphabet(" \nA"), std::string("ĠĊA"));
    std::string all;
    for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
    QCOMPARE(fromByteAlphabet(toByteAlphabet(all)), all);
    QCOMPARE(fromByteAlphabet("中"), std::string("中"));
}

FIRSTTOKEN_TEST_CLASS(TestUnicode);
#include "test_unicode.moc"
