#include <QtTest>

#include "sessions/report/markup.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::sessions;
using namespace std::string_literals;

class TestMarkup : public QObject {
    Q_OBJECT

private slots:
    void markupOfPeopleIsText() {
        QCOMPARE(escaped(R"(a < b && c > "d" 'e')"), "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;"s);
        QCOMPARE(escaped("&amp;"), "&amp;amp;"s);
    }

    void controlCharactersAreDropped() {
        QCOMPARE(escaped("a\0b\x01\x08\x1b[31m\x7f\tc\nd\re"s), "ab[31m\tc\nde"s);
        QCOMPARE(escaped("x\u0085y\u009Fz"), "xyz"s);        // C1
        QCOMPARE(escaped("x\uFFFEy\uFFFFz\uFDD0"), "xyz"s);  // no characters
        QCOMPARE(escaped("\U0001FFFE\U0010FFFFok"), "ok"s);
    }

    void lettersOfAllKindsStay() {
        for (const char* text : {"né", "漢字", "🙂", "Київ", "\u00A0", "\uE000", "\U0010FFFD"}) {
            QCOMPARE(escaped(text), std::string(text));
        }
    }

    void bytesThatAreNoUtf8AreReplaced() {
        const std::string mark = "\uFFFD";
        QCOMPARE(escaped("a\xFF"), "a" + mark);
        QCOMPARE(escaped("\xC3"), mark);  // cut off
        QCOMPARE(escaped("\xC3("), mark + "(");
        QCOMPARE(escaped("\xC0\xBC"), mark + mark);  // an overlong <
        QCOMPARE(escaped("\xE0\x80\xBC"), mark + mark + mark);
        QCOMPARE(escaped("\xED\xA0\x80"), mark + mark + mark);  // a surrogate
        QCOMPARE(escaped("\xF4\x90\x80\x80"), mark + mark + mark + mark);
        QCOMPARE(escaped("\xF0\x9F\x99"), mark + mark + mark);
        QCOMPARE(escaped("\x80z"), mark + "z");
    }

    void shortenedNeverCutsWithinACharacter() {
        QCOMPARE(shortened("漢字漢字", 2), "漢字…"s);
        QCOMPARE(shortened("漢字", 2), "漢字"s);
        QCOMPARE(shortened("", 0), ""s);
        QCOMPARE(shortened("abc", 0), "…"s);
        QCOMPARE(shortened("\xFF\xFFz", 2), "\xFF\xFF…"s);
    }

    void elements() {
        Markup html;
        html.open("p", {{"title", "\"><script>"}}).text("a<b").element("b", "x&y").leaf("br").close();
        QCOMPARE(html.take(), "<p title=\"&quot;&gt;&lt;script&gt;\">a&lt;b<b>x&amp;y</b><br/></p>\n"s);
        QCOMPARE(html.take(), ""s);
    }
};

FIRSTTOKEN_TEST_CLASS(TestMarkup);
#include "test_markup.moc"
