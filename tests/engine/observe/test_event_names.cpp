#include <QtTest>
#include <set>

#include "engine/events.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestEventNames : public QObject {
    Q_OBJECT

private slots:
    void namesAreStable() {
        QCOMPARE(toString(RequestState::Prefilling), std::string_view("prefilling"));
        QCOMPARE(toString(FinishReason::Cancelled), std::string_view("cancelled"));
        QCOMPARE(toString(Stage::ClientLag), std::string_view("client_lag"));
        QCOMPARE(toString(Stage::Stream), std::string_view("stream"));
        QCOMPARE(toString(static_cast<Stage>(200)), std::string_view("unknown"));
    }

    void namesAreDistinct() {
        std::set<std::string_view> names;
        for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(Stage::Stream); ++i) {
            names.insert(toString(static_cast<Stage>(i)));
        }
        QCOMPARE(names.size(), std::size_t{12});
        QVERIFY(!names.contains("unknown"));
    }
};

FIRSTTOKEN_TEST_CLASS(TestEventNames);
#include "test_event_names.moc"
