#include <QSet>
#include <QtTest>
#include <cmath>

#include "tests/support/test_registry.h"
#include "ui/theme/theme.h"

namespace firsttoken::ui {
namespace {

/// WCAG 2.1, relative luminance of sRGB.
double luminance(QRgb colour) {
    const auto linear = [](int channel) {
        const double value = channel / 255.0;
        return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(qRed(colour)) + 0.7152 * linear(qGreen(colour)) + 0.0722 * linear(qBlue(colour));
}

/// WCAG 2.1: 1 (none) to 21 (black on white).
double contrast(QRgb a, QRgb b) {
    const double brighter = std::max(luminance(a), luminance(b));
    const double darker = std::min(luminance(a), luminance(b));
    return (brighter + 0.05) / (darker + 0.05);
}

}  // namespace

class TestTheme : public QObject {
    Q_OBJECT
private slots:
    void contrastItself() {
        QVERIFY(std::abs(contrast(0xFFFFFFFF, 0xFF000000) - 21.0) < 1e-9);
        QVERIFY(std::abs(contrast(0xFF777777, 0xFFFFFFFF) - 4.478) < 1e-3);  // the well-known near miss
    }

    void textCanBeRead_data() {
        QTest::addColumn<QRgb>("foreground");
        QTest::addColumn<QRgb>("background");
        for (const auto& [name, theme] : {std::pair("light", kLightTheme), std::pair("dark", kDarkTheme)}) {
            for (const auto& [part, colour] :
                 {std::pair("text", theme.text), std::pair("muted", theme.muted), std::pair("accent", theme.accent),
                  std::pair("good", theme.good), std::pair("bad", theme.bad), std::pair("caution", theme.caution)}) {
                QTest::addRow("%s: %s on surface", name, part) << colour << theme.surface;
                QTest::addRow("%s: %s on raised", name, part) << colour << theme.raised;
            }
        }
    }
    void textCanBeRead() {
        QFETCH(QRgb, foreground);
        QFETCH(QRgb, background);
        const double ratio = contrast(foreground, background);
        QVERIFY2(ratio >= 4.5, qPrintable(QString::number(ratio)));
    }

    void everyColourIsOpaque() {
        for (const Theme& theme : {kLightTheme, kDarkTheme}) {
            for (const QRgb colour : {theme.surface, theme.raised, theme.border, theme.text, theme.muted, theme.accent,
                                      theme.good, theme.bad, theme.caution}) {
                QCOMPARE(qAlpha(colour), 255);
            }
        }
    }

    void seriesAreSeenOnBothSurfaces() {
        for (const Series series : kAllSeries) {
            QCOMPARE(qAlpha(seriesColour(series)), 255);
            QVERIFY(contrast(seriesColour(series), kLightTheme.surface) >= 2.0);
            QVERIFY(contrast(seriesColour(series), kDarkTheme.surface) >= 3.0);
        }
    }

    void seriesDiffer() {
        QSet<QRgb> colours;
        for (const Series series : kAllSeries) colours.insert(seriesColour(series));
        QCOMPARE(static_cast<std::size_t>(colours.size()), kAllSeries.size());
    }

    void stackedStatesDiffer() {
        using engine::RequestState;
        QVERIFY(seriesOf(RequestState::Queued) != seriesOf(RequestState::Prefilling));
        QVERIFY(seriesOf(RequestState::Prefilling) != seriesOf(RequestState::Decoding));
        QVERIFY(seriesOf(RequestState::Queued) != seriesOf(RequestState::Decoding));
        QVERIFY(kKvReferencedSeries != kKvCachedSeries);
    }
};

FIRSTTOKEN_TEST_CLASS(TestTheme);

}  // namespace firsttoken::ui

#include "test_theme.moc"
