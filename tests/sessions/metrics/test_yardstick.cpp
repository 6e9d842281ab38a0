#include <QtTest>

#include "sessions/metrics/session_metrics.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;

class TestYardstick : public QObject {
    Q_OBJECT

private slots:
    void asTheEngineWritesIt() {
        engine::Profile profile;
        profile.slo.ttftMs = 500;
        profile.slo.tpotMs = 40.5;
        profile.slo.e2eMs.reset();
        profile.slo.targets = {{"ttft", 0.95, 650}, {"itl", 0.999, 80.5}, {"queue", 0.5, 10}};
        profile.cost = {1.25, "EUR"};
        profile.response.streaming = false;
        profile.model.path = "/models/\"odd\\name\n.gguf";
        const Yardstick yardstick = yardstickOf(engine::toJson(profile));
        QVERIFY(yardstick.slo == profile.slo);
        QVERIFY(yardstick.cost == profile.cost);
        QVERIFY(!yardstick.streaming);
        QVERIFY(yardstickOf(engine::toJson(engine::Profile())).slo == engine::Profile().slo);
    }

    void ofAnyOrigin() {
        const Yardstick none;
        for (const char* text : {"", "{", "[]", "7", "null", "{\"slo\":7}", "{\"slo\":[1]}", "{} {}"}) {
            QVERIFY2(yardstickOf(text) == none, text);
        }
        QVERIFY(yardstickOf(std::string(100'000, '[')) == none);
        const Yardstick odd = yardstickOf(
            "{\"slo\":{\"ttft_ms\":\"650\",\"tpot_ms\":-4,\"e2e_ms\":1e300,\"targets\":[\"ttft p95 <= 650 ms\",7,"
            "\"nonsense\",\"x]}\\ncost: {per_hour: 1\",\"ttft p95 <= 650 ms\\u0000\",null]},"
            "\"cost\":{\"per_hour\":0,\"currency\":3},\"response\":{\"streaming\":\"no\"}}");
        QVERIFY(odd.slo.has_value());
        QVERIFY(!odd.slo->ttftMs && !odd.slo->tpotMs && odd.slo->e2eMs == 1e300);
        QCOMPARE(odd.slo->targets.size(), std::size_t{1});
        QVERIFY(odd.cost == engine::Profile::Cost());
        QVERIFY(odd.streaming);
    }
};

FIRSTTOKEN_TEST_CLASS(TestYardstick);
#include "test_yardstick.moc"
