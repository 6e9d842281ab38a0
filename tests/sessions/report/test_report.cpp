#include <QFile>
#include <QSet>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/profile.h"
#include "sessions/report.h"
#include "tests/sessions/report/simulated_session.h"
#include "tests/sessions/report/xml_document.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;
using tests::parseXml;
using tests::simulate;
using tests::Simulation;
using tests::XmlDocument;
using tests::XmlElement;

class TestReport : public QObject {
    Q_OBJECT

    static std::string render(const SessionData& session) { return renderReport(std::span(&session, 1)); }

    static std::vector<SessionData> arms(std::int64_t runs, bool otherModel = false) {
        std::vector<SessionData> sessions;
        for (std::int64_t i = 0; i < 2 * runs; ++i) {
            Simulation settings;
            settings.id = i + 1;
            settings.requests = 60;
            settings.seed = static_cast<std::uint64_t>(i % runs + 1);
            if (i >= runs) settings.sequences = 4;
            sessions.push_back(simulate(settings));
            if (otherModel && i >= runs) sessions.back().header.modelHash = std::string(64, '8');
        }
        return sessions;
    }
    static QString textOf(const XmlDocument& document, const QString& cssClass) {
        const auto found = document.withClass(cssClass);
        return found.empty() ? QString() : found.front().text;
    }
    /// The text of the cells right of the row that begins with `name`.
    static QString rowOf(const XmlDocument& document, const QString& name) {
        for (const XmlElement& row : document.named("tr")) {
            if (row.text.startsWith(name)) return row.text.mid(name.size()).replace(QChar(0xA0), ' ');
        }
        return {};
    }

private slots:
    void everyReportIsWellFormed() {
        std::vector<std::vector<SessionData>> cases{{}, {SessionData()}, {simulate({})}, arms(1), arms(3)};
        cases.push_back({simulate({}), SessionData(), simulate({})});
        for (const auto& sessions : cases) {
            const std::string html = renderReport(sessions);
            const XmlDocument document = parseXml(html);
            QVERIFY2(document.error.isEmpty(), qPrintable(document.error));
            QVERIFY(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
            QVERIFY(!document.first("title")->text.isEmpty());
            QCOMPARE(document.named("h1").size(), std::size_t{1});
        }
    }

    void nothingIsRemoteAndNothingRuns() {
        const std::string html = renderReport(arms(2));
        for (const char* word : {"http:", "https:", "<script", "javascript:", "@import", "src=", "<link", "<iframe"}) {
            QVERIFY2(html.find(word) == std::string::npos, word);
        }
        for (const XmlElement& element : parseXml(html).elements) {
            const QString target = element.attribute("href");
            QVERIFY(target.isEmpty() || target.startsWith('#'));
        }
        for (std::size_t at = html.find("url("); at != std::string::npos; at = html.find("url(", at + 1)) {
            QCOMPARE(html.substr(at + 4, 1), std::string("#"));
        }
    }

    void linksAndPatternsLeadSomewhere() {
        const std::string html = renderReport(arms(2));
        QSet<QString> ids;
        std::vector<QString> wanted;
        for (const XmlElement& element : parseXml(html).elements) {
            const QString id = element.attribute("id");
            QVERIFY2(id.isEmpty() || !ids.contains(id), qPrintable(id));
            ids.insert(id);
            if (!element.attribute("href").isEmpty()) wanted.push_back(element.attribute("href").mid(1));
            for (const QString& label : element.attribute("aria-labelledby").split(' ', Qt::SkipEmptyParts)) {
                wanted.push_back(label);
            }
        }
        for (const char* pattern : {"hatch-queued", "hatch-prefilling", "hatch-cached"}) wanted.push_back(pattern);
        for (const QString& id : wanted) QVERIFY2(ids.contains(id), qPrintable(id));
        QVERIFY(wanted.size() > 10);
    }

    void readersHearTheCharts() {
        const XmlDocument document = parseXml(render(simulate({})));
        const auto charts = document.withClass("chart");
        QCOMPARE(charts.size(), std::size_t{2});
        for (const XmlElement& chart : charts) {
            QCOMPARE(chart.attribute("role"), QString("img"));
            QCOMPARE(chart.attribute("aria-labelledby").split(' ').size(), 2);
        }
        QVERIFY(document.first("desc")->text.contains("120 requests"));
        // The twin of the chart over time.
        QCOMPARE(document.named("details").size(), std::size_t{1});
        QVERIFY(document.first("details")->text.contains("KV referenced, %"));
        for (const XmlElement& head : document.named("th")) QVERIFY(!head.attribute("scope").isEmpty());
    }

    void lightDarkAndPaper() {
        const std::string html = render(simulate({}));
        for (const char* rule : {"prefers-color-scheme: dark", "@media print", "color-scheme: light dark", "#0072B2"}) {
            QVERIFY2(html.find(rule) != std::string::npos, rule);
        }
    }

    void plotsShareTheirEdges() {
        const auto lines = parseXml(render(simulate({}))).withClass("base");
        std::size_t strips = 0;
        for (const XmlElement& line : lines) {
            if (line.attribute("x1") != "118") continue;
            QCOMPARE(line.attribute("x2"), QString("860"));
            ++strips;
        }
        QCOMPARE(strips, std::size_t{8});  // TTFT, output, prompts, sequences, KV, device, GB/s, watts
        Simulation plain;
        plain.machineIsKnown = false;
        QCOMPARE(parseXml(render(simulate(plain))).withClass("base").size(), lines.size() - 2);
    }

    void aDotForEachRequest() {
        const SessionData session = simulate({});
        std::size_t first = 0, failed = 0, withoutFirst = 0;
        for (const RequestRecord& request : session.requests) {
            if (request.reason == engine::FinishReason::Rejected) {
                ++failed;
            } else {
                ++(request.firstTokenNs ? first : withoutFirst);
            }
        }
        QVERIFY(failed > 0);
        const XmlDocument document = parseXml(render(session));
        std::size_t circles = 0;
        for (const XmlElement& circle : document.named("circle"))
            circles += circle.text.startsWith("request ") ? 1U : 0U;
        QCOMPARE(circles, first + withoutFirst);
        std::size_t crosses = 0;
        for (const XmlElement& path : document.named("path")) {
            if (!path.hasClass("failure")) continue;
            crosses = std::max(crosses, static_cast<std::size_t>(path.attribute("d").count('M')) / 2);
        }
        QCOMPARE(crosses, failed);
    }

    void theLimitIsDrawnWhereThereIsOne() {
        SessionData session = simulate({});
        QCOMPARE(textOf(parseXml(render(session)), "limit-label"), QString("SLO 650\u00A0ms"));
        session.header.effectiveProfile = R"({"slo":{"ttft_ms":null,"tpot_ms":null,"e2e_ms":null,"targets":[]}})";
        QVERIFY(parseXml(render(session)).withClass("limit").empty());
    }

    void marksAreDrawnAndListed() {
        SessionData session = simulate({});
        session.marks.push_back({9'000'000'000, MarkKind::Note, "cooler off"});
        session.marks.push_back({9'500'000'000, MarkKind::Cancel, ""});
        session.marks.push_back({9'600'000'000, MarkKind::Chat, "a question"});
        const XmlDocument document = parseXml(render(session));
        QCOMPARE(document.withClass("mark").size(), session.marks.size());
        QCOMPARE(document.withClass("warmup-ground").size(), std::size_t{1});
        const QString list = textOf(document, "marks");
        for (const char* text : {"warm-up end", "load end", "note: cooler off", "cancelled", "chat: a question"}) {
            QVERIFY2(list.contains(text), text);
        }
    }

    void figuresAreThoseOfTheMetrics() {
        SessionData session;
        session.header.kind = SessionKind::Load;
        session.header.effectiveProfile = toJson(engine::Profile());
        for (std::int64_t i = 0; i < 3; ++i) {
            RequestRecord request;
            request.number = i + 1;
            request.plannedNs = i * 1'000'000'000;
            request.sentNs = request.scheduledNs = request.plannedNs;
            request.firstTokenNs = request.plannedNs + (i + 1) * 100'000'000;  // 100, 200, 300 ms
            request.deltaNs = {*request.firstTokenNs, *request.firstTokenNs + 50'000'000};
            request.endNs = request.deltaNs.back();
            request.promptTokens = 10;
            request.outputTokens = 2;
            request.reason = engine::FinishReason::Stop;
            session.requests.push_back(request);
        }
        const XmlDocument document = parseXml(render(session));
        QVERIFY(rowOf(document, "TTFTplanned").contains("3200"));  // three values, mean 200
        QVERIFY(rowOf(document, "TTFTplanned").contains("not enough data"));
        QVERIFY(rowOf(document, "TPOT").contains("50.0"));
        QVERIFY(rowOf(document, "Completed").startsWith("3 of 3"));
        QVERIFY(rowOf(document, "KV peak").startsWith("not measured"));
        QVERIFY(rowOf(document, "Energy").startsWith("not measured"));
        QVERIFY(rowOf(document, "Target: ttft p95 ≤ 650").contains("met"));
        QCOMPARE(document.withClass("figures").front().text.count("ms"), 4);  // three figures and a target
    }

    void theRecipeIsWhole() {
        SessionData session = simulate({});
        session.header.driver = "driver 999";
        const XmlDocument document = parseXml(render(session));
        const QString recipe = textOf(document, "recipes");
        for (const char* text : {"Gemma 3 270M", "gemma-3-270m-it-Q4_K_M.gguf", "Q4_K_M", "7777777", "interactive",
                                 "At most 8,192 unless asked for.", "Simulated Processor 9000", "32.0\u00A0GiB",
                                 "avx2, avx512f", "0.1.0, gcc 12, Release", "int8", "avx512-vnni", "driver 999",
                                 "\"rate_per_s\": 2", "Seed: 1", "scheduler.max_batch_tokens"}) {
            QVERIFY2(recipe.contains(text), text);
        }
        QVERIFY(!recipe.contains("models/gemma"));  // the folder is nobody's business
        bool changed = false;
        for (const XmlElement& row : document.withClass("changed")) {
            changed = changed || row.text.startsWith("model.max_context_tokens");
        }
        QVERIFY(changed);
    }

    void twoArmsAreCompared() {
        const XmlDocument document = parseXml(renderReport(arms(3)));
        const QString all = document.first("main")->text;
        QVERIFY(all.contains("Baseline: A, B, C · 3 runs"));
        QVERIFY(all.contains("This: D, E, F · 3 runs"));
        QVERIFY(rowOf(document, "scheduler.max_concurrent_sequences").startsWith("164"));
        QCOMPARE(document.withClass("chart").size(), std::size_t{7});  // one a session, the distributions once
        const XmlDocument refused = parseXml(renderReport(arms(1, true)));
        QVERIFY(textOf(refused, "verdict").startsWith("⊘ refused"));
        QVERIFY(parseXml(render(simulate({}))).withClass("verdict").empty());
    }

    void aComparisonMayBeGiven() {
        const auto sessions = arms(1);
        ReportOptions options;
        options.comparison = compare(std::span(&sessions[1], 1), std::span(&sessions[0], 1));
        const QString all = parseXml(renderReport(sessions, options)).first("main")->text;
        QVERIFY(all.contains("Baseline: B · 1 run"));
        QVERIFY(all.contains("This: A · 1 run"));
    }

    void manyRequestsMakeASmallFile() {
        Simulation settings;
        settings.requests = 100'000;
        settings.ratePerS = 40;
        settings.promptTokens = 20;
        settings.outputTokens = 12;
        settings.sequences = 64;
        settings.speed = 8;
        const std::string html = render(simulate(settings));
        QVERIFY2(html.size() < 1'500'000, qPrintable(QString::number(html.size())));
        const XmlDocument document = parseXml(html);
        QVERIFY(document.error.isEmpty());
        QVERIFY(document.first("main")->text.contains("The 100 slowest by TTFT of 100,000 requests"));
    }

    void equalSessionsGiveEqualText() {
        QCOMPARE(render(simulate({})), render(simulate({})));
        const SessionData session = simulate({});
        ReportOptions options;
        options.writtenAt = 1'767'225'600;
        QVERIFY(renderReport(std::span(&session, 1), options).find("on 2026-01-01 00:00:00 UTC") != std::string::npos);
    }

    void theFileIsReplacedWhole() {
        const QTemporaryDir folder;
        const QString path = folder.filePath("report.html");
        const SessionData session = simulate({});
        QVERIFY(writeReport(path.toStdString(), std::span<const SessionData>()).ok());
        QVERIFY(writeReport(path.toStdString(), std::span(&session, 1)).ok());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll().toStdString(), render(session));
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files).size(), 1);
        const std::string nowhere = folder.filePath("none/report.html").toStdString();
        const auto status = writeReport(nowhere, std::span(&session, 1));
        QVERIFY(!status);
        QCOMPARE(status.error().code, engine::ErrorCode::Io);
        QVERIFY(status.error().message.find("none/report.html") != std::string::npos);
    }
};

FIRSTTOKEN_TEST_CLASS(TestReport);
#include "test_report.moc"
