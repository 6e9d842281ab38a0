#include <QtTest>
#include <cmath>
#include <limits>

#include "tests/support/test_registry.h"
#include "ui/text/number_text.h"

namespace firsttoken::ui {
namespace {

/// Rows are written with plain spaces; the text has spaces that do not break.
QString unbroken(const char* text) { return QString::fromUtf8(text).replace(u' ', QChar(0x00A0)); }

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

class TestNumberText : public QObject {
    Q_OBJECT
private slots:
    void milliseconds_data() {
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("text");
        QTest::newRow("zero") << 0.0 << unbroken("0.00 ms");
        QTest::newRow("small") << 8.414 << unbroken("8.41 ms");
        QTest::newRow("half up") << 1.125 << unbroken("1.13 ms");
        QTest::newRow("carries into the next digit") << 9.996 << unbroken("10.0 ms");
        QTest::newRow("carries again") << 99.96 << unbroken("100 ms");
        QTest::newRow("tens") << 41.27 << unbroken("41.3 ms");
        QTest::newRow("hundreds") << 212.4 << unbroken("212 ms");
        QTest::newRow("thousands") << 12345.4 << unbroken("12,345 ms");
        QTest::newRow("negative") << -3.5 << unbroken("-3.50 ms");
        QTest::newRow("no negative zero") << -0.001 << unbroken("0.00 ms");
    }
    void milliseconds() {
        QFETCH(double, value);
        QTEST(m_english.milliseconds(value), "text");
    }

    void duration_data() {
        QTest::addColumn<double>("milliseconds");
        QTest::addColumn<QString>("text");
        QTest::newRow("ms") << 850.2 << unbroken("850 ms");
        QTest::newRow("just under a second") << 999.6 << unbroken("1.0 s");
        QTest::newRow("seconds") << 1234.0 << unbroken("1.2 s");
        QTest::newRow("just under a minute") << 59960.0 << unbroken("1 min 0 s");
        QTest::newRow("minutes") << 125400.0 << unbroken("2 min 5 s");
        QTest::newRow("just under an hour") << 3599600.0 << unbroken("1 h 0 min");
        QTest::newRow("minutes before") << -125400.0 << unbroken("-2 min 5 s");
        QTest::newRow("hours") << 12000000.0 << unbroken("3 h 20 min");
    }
    void duration() {
        QFETCH(double, milliseconds);
        QTEST(m_english.duration(milliseconds), "text");
    }

    void bytes_data() {
        QTest::addColumn<quint64>("value");
        QTest::addColumn<QString>("text");
        QTest::newRow("none") << quint64{0} << unbroken("0 B");
        QTest::newRow("bytes") << quint64{1023} << unbroken("1,023 B");
        QTest::newRow("a KiB") << quint64{1024} << unbroken("1.0 KiB");
        QTest::newRow("MiB") << quint64{253113024} << unbroken("241 MiB");
        QTest::newRow("GiB") << quint64{1288490189} << unbroken("1.2 GiB");
        QTest::newRow("all of them") << std::numeric_limits<quint64>::max() << unbroken("16,384 PiB");
    }
    void bytes() {
        QFETCH(quint64, value);
        QTEST(m_english.bytes(value), "text");
    }

    void bytesOfShareOneUnit() {
        const quint64 gib = quint64{1} << 30;
        QCOMPARE(m_english.bytesOf(gib / 2, 3 * gib), unbroken("0.5 of 3.0 GiB"));
        QCOMPARE(m_english.bytesOf(4 * gib, 3 * gib), unbroken("4.0 of 3.0 GiB"));
        QCOMPARE(m_english.bytesOf(0, 100), unbroken("0 of 100 B"));
    }

    void ratesSharesAndCounts() {
        QCOMPARE(m_english.tokensPerSecond(41.27), unbroken("41.3 tok/s"));
        QCOMPARE(m_english.percent(0.7111), unbroken("71.1 %"));
        QCOMPARE(m_english.percent(1.0), unbroken("100 %"));
        QCOMPARE(m_english.count(2048), QString("2,048"));
        QCOMPARE(m_english.count(std::numeric_limits<std::int64_t>::min()), QString("-9,223,372,036,854,775,808"));
    }

    void columnsKeepTheirDecimals() {
        QCOMPARE(m_english.column(8.0, 1), QString("8.0"));
        QCOMPARE(m_english.column(1234.56, 1), QString("1,234.6"));
        QCOMPARE(m_english.column(0.04, 0), QString("0"));
    }

    void languageDecidesTheSeparators() {
        const NumberText ukrainian{QLocale(QLocale::Ukrainian)};
        QCOMPARE(ukrainian.column(8.5, 1), QString("8,5"));
        QVERIFY(ukrainian.milliseconds(8.414).startsWith("8,41"));
        const NumberText german{QLocale(QLocale::German, QLocale::Germany)};
        QCOMPARE(german.count(2048), QString("2.048"));
    }

    void unknownIsNeverZero() {
        const QString none = m_english.notMeasured();
        QCOMPARE(none, QString("not measured"));
        QCOMPARE(m_english.milliseconds({}), none);
        QCOMPARE(m_english.duration({}), none);
        QCOMPARE(m_english.tokensPerSecond({}), none);
        QCOMPARE(m_english.bytes({}), none);
        QCOMPARE(m_english.bytesOf({}, 1), none);
        QCOMPARE(m_english.bytesOf(1, {}), none);
        QCOMPARE(m_english.count({}), none);
        QCOMPARE(m_english.percent({}), none);
        QCOMPARE(m_english.column({}, 1), none);
        for (const double value : {kNaN, kInfinity, -kInfinity}) {
            QCOMPARE(m_english.milliseconds(value), none);
            QCOMPARE(m_english.duration(value), none);
            QCOMPARE(m_english.percent(value), none);
            QCOMPARE(m_english.column(value, 2), none);
        }
    }

    void largeValuesStayNumbers() {
        QVERIFY(!m_english.milliseconds(1e300).isEmpty());
        QVERIFY(!m_english.duration(1e15).isEmpty());
        QVERIFY(!m_english.duration(1e300).isEmpty());
    }

private:
    NumberText m_english{QLocale(QLocale::English, QLocale::UnitedStates)};
};

FIRSTTOKEN_TEST_CLASS(TestNumberText);

}  // namespace firsttoken::ui

#include "test_number_text.moc"
