#include <algorithm>
#include <random>

#include "engine/text/stop_matcher.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestStopMatcher : public QObject {
    Q_OBJECT
private slots:
    void everySplitPoint();
    void heldTextIsFlushed();
    void theFirstCompleteMatchWins();
    void emptyStopsAreIgnored();
    void randomTextsAgreeWithASearch();
};

struct Run {
    std::string text;
    bool stopped = false;
    std::string stop;
};

static Run runInParts(const std::vector<std::string>& stops, const std::vector<std::string>& parts) {
    StopMatcher matcher(stops);
    Run run;
    for (const std::string& part : parts) {
        const StopMatcher::Out out = matcher.push(part);
        run.text += out.text;
        if (out.stopped) {
            run.stopped = true;
            run.stop = out.stop;
        }
    }
    run.text += matcher.flush();
    return run;
}

void TestStopMatcher::everySplitPoint() {
    const std::string text = "Hello <|im <|im_end|> after";
    for (std::size_t first = 0; first <= text.size(); ++first) {
        for (std::size_t second = first; second <= text.size(); ++second) {
            const Run run =
                runInParts({"<|im_end|>", "\nUser:"},
                           {text.substr(0, first), text.substr(first, second - first), text.substr(second)});
            QVERIFY(run.stopped);
            QCOMPARE(run.text, std::string("Hello <|im "));
            QCOMPARE(run.stop, std::string("<|im_end|>"));
        }
    }
}

void TestStopMatcher::heldTextIsFlushed() {
    StopMatcher matcher({"STOP"});
    QCOMPARE(matcher.push("abSTO").text, std::string("ab"));
    QCOMPARE(matcher.flush(), std::string("STO"));
    QCOMPARE(matcher.push("P").stopped, false);
    StopMatcher inner({"aab"});
    QCOMPARE(inner.push("aaa").text, std::string("a"));
    QCOMPARE(inner.push("c").text, std::string("aac"));
}

void TestStopMatcher::theFirstCompleteMatchWins() {
    for (const std::vector<std::string>& parts :
         {std::vector<std::string>{"xabcd"}, std::vector<std::string>{"x", "a", "b", "c", "d"}}) {
        const Run shorter = runInParts({"abcd", "bc"}, parts);
        QCOMPARE(shorter.text, std::string("xa"));
        QCOMPARE(shorter.stop, std::string("bc"));
        const Run longer = runInParts({"c", "abc"}, parts);
        QCOMPARE(longer.text, std::string("x"));
        QCOMPARE(longer.stop, std::string("abc"));
    }
}

void TestStopMatcher::emptyStopsAreIgnored() {
    const Run run = runInParts({"", ""}, {"text"});
    QCOMPARE(run.text, std::string("text"));
    QVERIFY(!run.stopped);
    QCOMPARE(runInParts({}, {"te", "xt"}).text, std::string("text"));
}

void TestStopMatcher::randomTextsAgreeWithASearch() {
    std::mt19937 random(11);
    const auto word = [&random](unsigned longest) {
        std::string out;
        for (unsigned length = 1 + random() % longest; length > 0; --length) out += "ab"[random() % 2];
        return out;
    };
    for (int round = 0; round < 5000; ++round) {
        std::vector<std::string> stops;
        for (unsigned n = 1 + random() % 3; n > 0; --n) stops.push_back(word(6));
        const std::string text = word(24);
        std::size_t end = std::string::npos;
        std::size_t start = text.size();
        for (const std::string& stop : stops) {
            const std::size_t at = text.find(stop);
            if (at == std::string::npos) continue;
            const std::size_t stopEnd = at + stop.size();
            if (end == std::string::npos || stopEnd < end) {
                end = stopEnd;
                start = at;
            } else if (stopEnd == end) {
                start = std::min(start, at);
            }
        }
        StopMatcher matcher(stops);
        std::string out;
        bool stopped = false;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t length = 1 + random() % 5;
            const StopMatcher::Out piece = matcher.push(text.substr(at, length));
            out += piece.text;
            stopped = stopped || piece.stopped;
            // What is out already must stay true, whatever comes.
            QCOMPARE(out, text.substr(0, out.size()));
            QVERIFY(out.size() <= start);
            at += length;
        }
        out += matcher.flush();
        QCOMPARE(stopped, end != std::string::npos);
        QCOMPARE(out, text.substr(0, start));
    }
}

FIRSTTOKEN_TEST_CLASS(TestStopMatcher);
#include "test_stop_matcher.moc"
