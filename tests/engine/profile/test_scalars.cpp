#include <QtTest>
#include <limits>
#include <random>

#include "engine/profile/scalars.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestScalars : public QObject {
    Q_OBJECT

private slots:
    void integers() {
        QCOMPARE(*parseInteger("0"), std::int64_t{0});
        QCOMPARE(*parseInteger("-12"), std::int64_t{-12});
        QCOMPARE(*parseInteger("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
        for (const char* text : {"", "-", "+1", "1e3", "1.0", "0x10", "1_000", "1,000", " 1", "1 ", "010", "-01", "NaN",
                                 "9223372036854775808", "ten"}) {
            QVERIFY2(!parseInteger(text).ok(), text);
        }
        QCOMPARE(parseInteger("1e3").error().message,
                 std::string("must be a whole number in plain digits (as 4096), not '1e3'"));
        QVERIFY(parseInteger("010").error().message.find("octal") != std::string::npos);
        QVERIFY(parseInteger("99999999999999999999").error().message.find("out of range") != std::string::npos);
    }

    void unsignedIntegers() {
        QCOMPARE(*parseUnsigned("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
        QVERIFY(!parseUnsigned("18446744073709551616").ok());
        QVERIFY(parseUnsigned("-5").error().message.find("negative") != std::string::npos);
    }

    void decimals() {
        QCOMPARE(*parseDecimal("0.7"), 0.7);
        QCOMPARE(*parseDecimal("-2"), -2.0);
        QCOMPARE(*parseDecimal("1e-3"), 0.001);
        QCOMPARE(*parseDecimal(".5"), 0.5);
        for (const char* text :
             {"", "nan", "inf", "-inf", ".inf", ".nan", "1e999", "0x1p3", "1,5", "0.7f", "+1", "-", "007.5", "--1"}) {
            QVERIFY2(!parseDecimal(text).ok(), text);
        }
    }

    void booleans() {
        QVERIFY(*parseBool("true"));
        QVERIFY(!*parseBool("False"));
        for (const char* text : {"yes", "on", "1", "0", "", "truee"}) QVERIFY2(!parseBool(text).ok(), text);
    }

    void bytes() {
        QCOMPARE(*parseBytes("4 GiB"), std::uint64_t{4} << 30U);
        QCOMPARE(*parseBytes("512MiB"), std::uint64_t{512} << 20U);
        QCOMPARE(*parseBytes("1.5 GiB"), std::uint64_t{3} << 29U);
        QCOMPARE(*parseBytes("2 GB"), std::uint64_t{2'000'000'000});
        QCOMPARE(*parseBytes("1073741824"), std::uint64_t{1} << 30U);
        for (const char* text :
             {"", "GiB", "4 G", "4 gib", "-4 GiB", "4 GiB 2", "0.3 B", "99999999999 TiB", "1e9", "1.2.3 GiB"}) {
            QVERIFY2(!parseBytes(text).ok(), text);
        }
        for (const std::uint64_t value : {std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{1} << 20U,
                                          std::uint64_t{3} << 29U, std::numeric_limits<std::uint64_t>::max()}) {
            QCOMPARE(*parseBytes(bytesText(value)), value);
        }
        QCOMPARE(bytesText(std::uint64_t{4} << 30U), std::string("4 GiB"));
    }

    void sloTargets() {
        const SloTarget expected{"ttft", 0.95, 650};
        for (const char* text : {"ttft p95 <= 650 ms", "ttft p95 \xE2\x89\xA4 650 ms", "ttft p95<=650ms",
                                 "ttft p95 <= 0.65 s", "  ttft  p95.0  <=  650.0  ms "}) {
            const auto target = parseSloTarget(text);
            QVERIFY2(target.ok(), text);
            QVERIFY2(*target == expected, text);
            QCOMPARE(sloTargetText(*target), std::string("ttft p95 <= 650 ms"));
        }
        QCOMPARE(*parseSloTarget("e2e p99.9 <= 2 s"), (SloTarget{"e2e", 0.999, 2000}));
        QCOMPARE(sloTargetText({"e2e", 0.999, 2000}), std::string("e2e p99.9 <= 2000 ms"));
        QCOMPARE(sloTargetText({"itl", 0.005, 0.25}), std::string("itl p0.5 <= 0.25 ms"));
        for (const char* text : {"", "ttft", "ttft p95", "ttft p95 < 650 ms", "ttft p95 <= 650", "ttft 95 <= 650 ms",
                                 "latency p95 <= 650 ms", "ttft p0 <= 650 ms", "ttft p100 <= 650 ms",
                                 "ttft p95 <= 0 ms", "ttft p95 <= -5 ms", "ttft p95 <= 650 minutes",
                                 "ttft p95 >= 650 ms", "ttft p95 <= <= 650 ms", "ttft p95 <= 1e99 ms"}) {
            QVERIFY2(!parseSloTarget(text).ok(), text);
        }
    }

    void anyTargetRoundTrips() {
        std::mt19937_64 random(3);
        std::uniform_real_distribution<double> unit(1e-9, 1 - 1e-9);
        for (int i = 0; i < 2'000; ++i) {
            const SloTarget target{"tpot", unit(random), unit(random) * 86'400'000};
            const auto back = parseSloTarget(sloTargetText(target));
            QVERIFY2(back.ok(), sloTargetText(target).c_str());
            QVERIFY2(*back == target, sloTargetText(target).c_str());
        }
    }

    void quotedTextEscapes() { QCOMPARE(quotedText("a\"b\\c\n\t\x01"), std::string("\"a\\\"b\\\\c\\n\\t\\u0001\"")); }

    void wordsInMessagesAreShortAndWhole() {
        QCOMPARE(quotedWord("a\nb"), std::string("'a b'"));
        std::string wide = "x";
        for (int i = 0; i < 30; ++i) wide += "\xE6\xA8\xA1";
        const std::string shown = quotedWord(wide);
        QCOMPARE(shown, "'" + wide.substr(0, 1 + 15 * 3) + "...'");
        QVERIFY(QString::fromStdString(shown).toStdString() == shown);
        QCOMPARE(quotedWord(std::string(48, 'y')), "'" + std::string(48, 'y') + "'");
    }

    void nearestWords() {
        const std::vector<std::string_view> words = {"max_batch_tokens", "policy", "max_queue"};
        QCOMPARE(nearestWord("max_batch_token", words), std::string_view("max_batch_tokens"));
        QCOMPARE(nearestWord("polcy", words), std::string_view("policy"));
        QCOMPARE(nearestWord("temperature", words), std::string_view());
        QCOMPARE(editDistance("kitten", "sitting"), std::size_t{3});
        QCOMPARE(editDistance("", "abc"), std::size_t{3});
    }
};

FIRSTTOKEN_TEST_CLASS(TestScalars);
#include "test_scalars.moc"
