#include <QtTest>
#include <limits>
#include <random>

#include "sessions/report.h"
#include "tests/sessions/report/simulated_session.h"
#include "tests/sessions/report/xml_document.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;
using tests::parseXml;
using tests::simulate;
using tests::XmlDocument;
using tests::XmlElement;

class TestReportHostile : public QObject {
    Q_OBJECT

    /// Every text of a session that people, models or files write.
    static void fillTexts(SessionData& session, const std::string& text) {
        SessionHeader& header = session.header;
        for (std::string* field :
             {&header.title, &header.note, &header.failure, &header.modelPath, &header.modelName, &header.architecture,
              &header.modelFormat, &header.modelHash, &header.profileName, &header.requestedProfile,
              &header.effectiveProfile, &header.profileChanges, &header.arithmetic, &header.isa, &header.workload,
              &header.machine, &header.build, &header.driver}) {
            *field = text;
        }
        for (RequestRecord& request : session.requests) {
            request.detail = request.tier = request.routingReason = request.prompt = request.output = text;
        }
        session.marks = {{1'000'000'000, MarkKind::Note, text}, {2'000'000'000, MarkKind::ProfileChange, text}};
    }
    static void checkHarmless(const XmlDocument& document) {
        QVERIFY2(document.error.isEmpty(), qPrintable(document.error));
        QVERIFY(document.first("script") == nullptr);
        QVERIFY(document.first("img") == nullptr);
        QVERIFY(document.first("b") == nullptr);
        QCOMPARE(document.named("style").size(), std::size_t{1});
        for (const XmlElement& element : document.elements) {
            for (const auto& [name, value] : element.attributes) {
                QVERIFY2(!name.startsWith("on"), qPrintable(name));
                QVERIFY2(name != "style" && name != "src", qPrintable(name));
                QVERIFY2(name != "href" || value.startsWith('#'), qPrintable(value));
            }
        }
    }

private slots:
    void textsStayText() {
        const std::string attacks[] = {
            "</title><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)",
            "]]></style><b>&lt;&#60;&nonsense;", "<!-- --><?php ?><![CDATA[",       "</svg></table></main><b>",
        };
        for (const SessionKind kind : {SessionKind::Load, SessionKind::Chat}) {
            for (const std::string& attack : attacks) {
                SessionData session = simulate({});
                session.header.kind = kind;
                fillTexts(session, attack);
                const std::vector<SessionData> two{session, session};
                for (std::size_t count : {1U, 2U}) {
                    const XmlDocument document = parseXml(renderReport(std::span(two).first(count)));
                    checkHarmless(document);
                    const QString text = document.first("main")->text;
                    QVERIFY(text.count(QString::fromStdString(attack)) > 10);  // shown as it was written
                    QCOMPARE(document.first("title")->text.contains(QString::fromStdString(attack)), count == 1);
                }
            }
        }
    }

    void jsonOfStrangersIsText() {
        SessionData session = simulate({});
        const std::string attack = R"({"<b onclick=1>":"</td><script>","deep":[[[{"x":"<b>"}]],{"y":["<b>"]}]})";
        session.header.requestedProfile = session.header.effectiveProfile = session.header.machine = attack;
        session.header.profileChanges = R"([{"key":"<script>","requested":{"a":1},"effective":[1,"<b>"]},5,"<b>"])";
        session.header.workload = R"({"arrivals":"</pre><script>"})";
        checkHarmless(parseXml(renderReport(std::span(&session, 1))));
    }

    void bytesThatNoDocumentMayHold() {
        std::string bytes;
        for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
        bytes += "\xEF\xBF\xBE\xED\xA0\x80\xF8\x88\x80\x80\x80";
        SessionData session = simulate({});
        session.header.kind = SessionKind::Chat;
        fillTexts(session, bytes);
        checkHarmless(parseXml(renderReport(std::span(&session, 1))));
    }

    void longTextsAreBounded() {
        SessionData session = simulate({});
        fillTexts(session, std::string(200'000, 'x'));
        session.header.machine.clear();
        for (int i = 0; i < 20'000; ++i) session.header.machine += "{\"a\":";
        for (int i = 0; i < 500; ++i) session.marks.push_back({i * 1'000'000, MarkKind::Note, "again"});
        const std::string html = renderReport(std::span(&session, 1));
        QVERIFY(parseXml(html).error.isEmpty());
        QVERIFY2(html.size() < 3'000'000, qPrintable(QString::number(html.size())));
    }

    void anyTimesAndNumbersGiveAReport() {
        std::mt19937_64 random(7);
        const auto number = [&random]() -> std::int64_t {
            using Limits = std::numeric_limits<std::int64_t>;
            switch (random() % 6) {
                case 0:
                    return Limits::max();
                case 1:
                    return Limits::min();
                case 2:
                    return -static_cast<std::int64_t>(random() % 1'000'000'000);
                default:
                    return static_cast<std::int64_t>(random() % 100'000'000'000);
            }
        };
        const auto real = [&random]() {
            const double values[] = {
                0,   -1, 1e300, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                0.5, 12};
            return values[random() % std::size(values)];
        };
        for (int round = 0; round < 40; ++round) {
            SessionData session = simulate({.requests = 30});
            session.header.startedAt = real();
            session.header.endedAt = real();
            for (RequestRecord& request : session.requests) {
                for (auto* time : {&request.sentNs, &request.scheduledNs, &request.prefillEndNs, &request.firstTokenNs,
                                   &request.endNs}) {
                    if (random() % 2 == 0) *time = number();
                }
                if (random() % 2 == 0) request.plannedNs = number();
                if (random() % 4 == 0) request.deltaNs = {number(), number()};
                request.outputTokens = number();
                request.promptTokens = number();
            }
            for (SampleRecord& sample : session.samples) {
                if (random() % 2 == 0) sample.atNs = number();
                sample.queued = number();
                sample.blocksTotal = number();
                sample.blocksReferenced = number();
                sample.deviceUse = real();
                sample.watts = real();
                sample.achievedGbPerS = real();
            }
            for (MarkRecord& mark : session.marks) mark.atNs = number();
            const std::vector<SessionData> two{session, simulate({})};
            const std::string html = renderReport(two);
            QVERIFY(parseXml(html).error.isEmpty());
            QVERIFY(html.size() < 4'000'000);
            QVERIFY(html.find(">nan") == std::string::npos && html.find("inf ") == std::string::npos);
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestReportHostile);
#include "test_report_hostile.moc"
