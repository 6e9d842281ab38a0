#include <QtTest>
#include <random>

#include "engine/profile.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestHostile : public QObject {
    Q_OBJECT

    static std::string repeated(const std::string& text, std::size_t times) {
        std::string result;
        for (std::size_t i = 0; i < times; ++i) result += text;
        return result;
    }

private slots:
    void refusals_data() {
        QTest::addColumn<QByteArray>("yaml");
        QTest::addColumn<int>("line");
        QTest::addColumn<QString>("part");
        QTest::newRow("anchor") << QByteArray("model: &a\n  precision: f32\n") << 1 << "anchors";
        QTest::newRow("alias") << QByteArray("model: *a\n") << 1 << "anchor";
        QTest::newRow("billion laughs") << QByteArray("a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n") << 1 << "anchors";
        QTest::newRow("tag") << QByteArray("\nmodel: !!python/object x\n") << 2 << "tags";
        QTest::newRow("typed tag") << QByteArray("cache: {block_tokens: !!int 16}") << 1 << "tags";
        QTest::newRow("two documents") << QByteArray("model: {}\n---\ncache: {}\n") << 2 << "one YAML document";
        QTest::newRow("no UTF-8") << QByteArray("model:\n  path: \xff\xfe\n") << 2 << "UTF-8";
        QTest::newRow("surrogate") << QByteArray("# \xED\xA0\x80\n") << 1 << "UTF-8";
        QTest::newRow("cut character") << QByteArray("# \xE2\x89") << 1 << "UTF-8";
        QTest::newRow("zero byte") << QByteArray("model:\0x", 8) << 1 << "zero byte";
        QTest::newRow("unclosed") << QByteArray("model: {precision: f32\n") << 2 << "not valid YAML";
        QTest::newRow("unclosed quote") << QByteArray("model: {path: \"x}\n") << 2 << "not valid YAML";
        QTest::newRow("tab") << QByteArray("model:\n\tprecision: f32\n") << 2 << "tab";
        QTest::newRow("deep lists") << QByteArray("model: ") + QByteArray(40, '[') + QByteArray(40, ']') << 1 << "deep";
        QTest::newRow("very deep") << QByteArray("a: ") + QByteArray(100'000, '[') << 1 << "";
        QTest::newRow("very deep maps") << QByteArray(100'000, '{') << 1 << "";
        QTest::newRow("too large") << QByteArray(1'100'000, '#') << 1 << "1 MiB";
        QTest::newRow("GGUF") << QByteArray("GGUF\x03\0\0\0", 8) << 1 << "";
    }
    void refusals() {
        QFETCH(QByteArray, yaml);
        QFETCH(int, line);
        QFETCH(QString, part);
        const auto parsed = parseProfile(yaml.toStdString());
        QCOMPARE(parsed.errors.size(), std::size_t{1});
        QVERIFY2(QString::fromStdString(parsed.errors[0].message).contains(part), parsed.errors[0].message.c_str());
        QCOMPARE(parsed.errors[0].line, line);
        QVERIFY(parsed.errors[0].column >= 1);
        QVERIFY(parsed.profile == Profile{});
    }

    void faultsAreBounded() {
        std::string yaml;
        for (int i = 0; i < 20'000; ++i) yaml += "unknown_section_" + std::to_string(i) + ": 1\n";
        const auto parsed = parseProfile(yaml);
        QCOMPARE(parsed.errors.size(), std::size_t{101});
        QVERIFY(parsed.errors.back().message.find("more faults") != std::string::npos);
    }

    void strangeButBounded() {
        for (const std::string& piece : {std::string("- "), std::string("? "), std::string(": "), std::string("a: "),
                                         std::string("\""), std::string("'"), std::string("|\n"), std::string("%"),
                                         std::string("--- "), std::string("a: |\n"), std::string(",")}) {
            const auto parsed = parseProfile(repeated(piece, 20'000));
            for (const auto& error : parsed.errors) QVERIFY(error.line >= 1 && error.column >= 1);
            QVERIFY(parsed.profile == Profile{});
        }
    }

    /// Damaged profiles give errors or profiles, never anything else; places are always within the text.
    void mutations() {
        const std::string whole = toYaml(Profile{});
        std::mt19937 random(7);
        const std::string bytes = ":{}[]#&*!|>'\"%@`,?- \n\t\0\xE2\xFF~01x";
        for (int round = 0; round < 3'000; ++round) {
            std::string text = whole;
            for (int i = 0; i < 1 + round % 5; ++i) {
                const std::size_t at = random() % text.size();
                switch (random() % 3) {
                    case 0:
                        text[at] = bytes[random() % bytes.size()];
                        break;
                    case 1:
                        text.erase(at, random() % 40);
                        break;
                    default:
                        text.insert(at, 1, bytes[random() % bytes.size()]);
                        break;
                }
                if (text.empty()) text = "x";
            }
            const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
            const auto parsed = parseProfile(text);
            for (const auto& error : parsed.errors) {
                QVERIFY(error.line >= 1 && error.line <= lines + 1);
                QVERIFY(error.column >= 1);
                QVERIFY(!error.message.empty());
            }
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestHostile);
#include "test_hostile.moc"
