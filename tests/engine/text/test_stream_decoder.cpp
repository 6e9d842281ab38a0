#include <random>

#include "engine/text/stream_decoder.h"
#include "engine/text/utf8.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestStreamDecoder : public QObject {
    Q_OBJECT
private slots:
    void everySplitGivesTheWholeText();
    void invalidBytesBecomeOneReplacementEach_data();
    void invalidBytesBecomeOneReplacementEach();
    void anUnfinishedCharacterIsFlushed();
    void randomBytesInRandomSplits();
};

static std::string byteByByte(std::string_view bytes) {
    StreamDecoder decoder;
    std::string out;
    for (const char byte : bytes) out += decoder.push(std::string_view(&byte, 1));
    return out + decoder.flush();
}

void TestStreamDecoder::everySplitGivesTheWholeText() {
    const std::string text = "aé中😀 ї👩‍👩‍👧\n";
    for (std::size_t first = 0; first <= text.size(); ++first) {
        for (std::size_t second = first; second <= text.size(); ++second) {
            StreamDecoder decoder;
            std::string out;
            for (const std::string& part :
                 {text.substr(0, first), text.substr(first, second - first), text.substr(second)}) {
                const std::string released = decoder.push(part);
                QVERIFY(isValidUtf8(released));
                out += released;
            }
            QCOMPARE(out, text);
            QCOMPARE(decoder.flush(), std::string());
        }
    }
}

void TestStreamDecoder::invalidBytesBecomeOneReplacementEach_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("expected");
    const QByteArray r("\xEF\xBF\xBD");
    QTest::newRow("lone continuation") << QByteArray("a\x80z") << QByteArray("a" + r + "z");
    QTest::newRow("overlong lead C0") << QByteArray("\xC0\x80") << QByteArray(r + r);
    QTest::newRow("lead F5") << QByteArray("\xF5") << r;
    QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80") << QByteArray(r + r + r);
    QTest::newRow("overlong E0") << QByteArray("\xE0\x80\x80") << QByteArray(r + r + r);
    QTest::newRow("broken off, then a letter") << QByteArray("\xF0\x9F\x98z") << QByteArray(r + "z");
    QTest::newRow("broken off by another lead") << QByteArray("\xE4\xB8\xE4\xB8\xAD") << QByteArray(r + "\xE4\xB8\xAD");
    QTest::newRow("over U+10FFFF") << QByteArray("\xF4\x90\x80\x80") << QByteArray(r + r + r + r);
}

void TestStreamDecoder::invalidBytesBecomeOneReplacementEach() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, expected);
    QCOMPARE(byteByByte(bytes.toStdString()), expected.toStdString());
    StreamDecoder whole;
    QCOMPARE(whole.push(bytes.toStdString()) + whole.flush(), expected.toStdString());
    QCOMPARE(sanitizeUtf8(bytes.toStdString()), expected.toStdString());
}

void TestStreamDecoder::anUnfinishedCharacterIsFlushed() {
    StreamDecoder decoder;
    QCOMPARE(decoder.push("ok\xF0\x9F\x98"), std::string("ok"));
    QCOMPARE(decoder.flush(), std::string(replacementUtf8));
    QCOMPARE(decoder.flush(), std::string());
    QCOMPARE(decoder.push("x"), std::string("x"));
}

void TestStreamDecoder::randomBytesInRandomSplits() {
    std::mt19937 random(7);
    for (int round = 0; round < 3000; ++round) {
        std::string bytes;
        // Bytes near the borders of the UTF-8 table come up often.
        const std::string pool = "a\x7F\x80\x8F\x90\x9F\xA0\xBF\xC1\xC2\xDF\xE0\xE1\xED\xEF\xF0\xF1\xF4\xF5\xFF";
        for (unsigned length = random() % 12; length > 0; --length) bytes.push_back(pool[random() % pool.size()]);
        StreamDecoder decoder;
        std::string out;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t length = 1 + random() % 4;
            out += decoder.push(bytes.substr(at, length));
            at += length;
        }
        out += decoder.flush();
        QVERIFY(isValidUtf8(out));
        QCOMPARE(out, sanitizeUtf8(bytes));
    }
}

FIRSTTOKEN_TEST_CLASS(TestStreamDecoder);
#include "test_stream_decoder.moc"
