#include <QtTest>
#include <functional>

#include "sessions/compare/comparison.h"
#include "tests/sessions/compare/simulated_sessions.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::sessions;
using namespace firsttoken::tests;

class TestLikeness : public QObject {
    Q_OBJECT

    using Sessions = std::vector<SessionData>;
    using Unlike = std::vector<std::string>;

    static Sessions arm(std::size_t count, std::uint64_t noise) {
        Sessions sessions;
        for (std::size_t i = 0; i < count; ++i) {
            SimulatedRun run;
            run.requests = 40;
            run.seed = i + 1;
            run.noise = noise * 100 + i;
            sessions.push_back(simulatedSession(run));
        }
        return sessions;
    }
    static Unlike unlike(const std::function<void(SessionHeader&)>& change) {
        Sessions b = arm(2, 2);
        change(b[1].header);
        return compare(arm(2, 1), b).unlike;
    }
    static void replace(std::string& text, const std::string& from, const std::string& to) {
        const auto at = text.find(from);
        QVERIFY2(at != std::string::npos, from.c_str());
        text.replace(at, from.size(), to);
    }

private slots:
    void equalRuns() {
        QVERIFY(unlike([](SessionHeader&) {}).empty());
    }

    void eachField() {
        using H = SessionHeader;
        QCOMPARE(unlike([](H& h) { replace(h.workload, "10", "12"); }), Unlike{"workload"});
        QCOMPARE(unlike([](H& h) { h.workload.clear(); }), Unlike{"workload"});
        QCOMPARE(unlike([](H& h) { h.workload = "{broken"; }), Unlike{"workload"});
        QCOMPARE(unlike([](H& h) { h.seed = 7; }), Unlike{"seed"});
        QCOMPARE(unlike([](H& h) { h.seed.reset(); }), Unlike{"seed"});
        QCOMPARE(unlike([](H& h) { h.modelHash = "beef"; }), Unlike{"model"});
        QCOMPARE(unlike([](H& h) { replace(h.machine, "Some CPU", "Other CPU"); }), Unlike{"machine"});
        QCOMPARE(unlike([](H& h) { replace(h.machine, "\"cores\":8", "\"cores\":4"); }), Unlike{"machine"});
        QCOMPARE(unlike([](H& h) { replace(h.machine, "34359738368", "17179869184"); }), Unlike{"machine"});
        QCOMPARE(unlike([](H& h) { h.machine.clear(); }), Unlike{"machine"});
        QCOMPARE(unlike([](H& h) { h.build = "0.2.0"; }), Unlike{"build"});
        QCOMPARE(unlike([](H& h) { h.driver = "550.1"; }), Unlike{"driver"});
        QCOMPARE(unlike([](H& h) { h.isa = "avx512"; }), Unlike{"isa"});
        QCOMPARE(unlike([](H& h) { h.arithmetic = "f32"; }), Unlike{"arithmetic"});
        QCOMPARE(unlike([](H& h) { h.state = SessionState::Cancelled; }), Unlike{"state"});
        QCOMPARE(unlike([](H& h) { replace(h.requestedProfile, "2048", "512"); }), Unlike{"profile"});
        QCOMPARE(unlike([](H& h) { h.seed = 7, h.build = "x"; }), (Unlike{"seed", "build"}));
    }

    void whatMayDiffer() {
        using H = SessionHeader;
        QVERIFY(unlike([](H& h) { h.modelHash.clear(); }).empty());  // then path and size say it
        QCOMPARE(unlike([](H& h) { h.modelHash.clear(), ++h.modelBytes; }), Unlike{"model"});
        QVERIFY(unlike([](H& h) { replace(h.machine, "34359738368", "34359000000"); }).empty());
        QVERIFY(unlike([](H& h) { replace(h.machine, "Linux 6.1", "Linux 6.2"); }).empty());
        QVERIFY(unlike([](H& h) { replace(h.workload, "300", "300.0"); }).empty());
        QVERIFY(unlike([](H& h) { replace(h.requestedProfile, "\"ttft_ms\":400", "\"ttft_ms\":9"); }).empty());
        QVERIFY(unlike([](H& h) { h.title = "another", h.note = "x", h.profileName = "y"; }).empty());
    }

    /// Another precision brings another arithmetic: that is what is compared.
    void whatTheProfileBrings() {
        Sessions b = arm(2, 2);
        for (SessionData& session : b) {
            replace(session.header.effectiveProfile, "as_stored", "f32");
            replace(session.header.requestedProfile, "as_stored", "f32");
            session.header.arithmetic = "f32";
        }
        QVERIFY(compare(arm(2, 1), b).unlike.empty());
    }

    void sharesOfSeeds() {
        const Sessions four = arm(4, 1);
        const Sessions two = arm(2, 2);
        QCOMPARE(compare(four, two).unlike, Unlike{"seed"});
        Sessions doubled = arm(2, 3);
        for (SessionData& session : arm(2, 4)) doubled.push_back(std::move(session));
        QVERIFY(compare(doubled, two).unlike.empty());  // each seed twice against once: still half of the runs each
    }

    void chatsAndEmptyArms() {
        Sessions chats = arm(1, 1);
        chats[0].header.kind = SessionKind::Chat;
        chats[0].header.workload.clear();
        chats[0].header.seed.reset();
        const Comparison both = compare(chats, chats);
        QCOMPARE(both.unlike, Unlike{"workload"});
        QVERIFY(both.unlikeReasons.front().find("chat") != std::string::npos);
        const Comparison empty = compare({}, arm(1, 1));
        QCOMPARE(empty.unlike, Unlike{"session"});
        QVERIFY(empty.verdict == Verdict::Refused);
        QVERIFY(compare({}, {}).metrics.size() == 21);
    }

    void refusedButShown() {
        const Sessions a = arm(3, 1);
        Sessions b = arm(3, 2);
        for (SessionData& session : b) session.header.build = "0.2.0";
        const Comparison comparison = compare(a, b);
        QVERIFY(comparison.verdict == Verdict::Refused);
        for (const MetricComparison& metric : comparison.metrics) {
            QVERIFY(metric.verdict == Verdict::Refused);
            QVERIFY2(metric.a && metric.b && metric.difference, metric.name.c_str());
            QVERIFY(!metric.interval && !metric.runsNeeded);
        }
        QCOMPARE(comparison.unlikeReasons.size(), comparison.unlike.size());
        QVERIFY(comparison.unlikeReasons.front().find("0.2.0") != std::string::npos);
        QVERIFY(comparison.summary.starts_with("refused: "));
    }
};

FIRSTTOKEN_TEST_CLASS(TestLikeness);
#include "test_likeness.moc"
