#include <QtTest>
#include <random>

#include "sessions/export/session_csv.h"
#include "tests/sessions/store/sample_sessions.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

using namespace sessions;

namespace {

using Rows = std::vector<std::vector<std::string>>;

/// RFC 4180, strictly. No rows for text that breaks its rules.
Rows parsed(const std::string& csv) {
    Rows rows(1);
    std::string cell;
    std::size_t at = 0;
    while (at < csv.size()) {
        cell.clear();
        if (csv[at] == '"') {
            for (++at; at < csv.size(); ++at) {
                if (csv[at] == '"' && (at + 1 >= csv.size() || csv[at + 1] != '"')) break;
                if (csv[at] == '"') ++at;
                cell += csv[at];
            }
            ++at;
        } else {
            while (at < csv.size() && csv[at] != ',' && csv[at] != '\r') {
                if (csv[at] == '"' || csv[at] == '\n') return {};
                cell += csv[at++];
            }
        }
        rows.back().push_back(cell);
        if (csv.compare(at, 2, "\r\n") == 0) {
            at += 2;
            rows.emplace_back();
        } else if (at >= csv.size() || csv[at++] != ',') {
            return {};
        }
    }
    rows.pop_back();
    return rows;
}

std::string cellOf(const Rows& rows, std::size_t row, const std::string& column) {
    for (std::size_t i = 0; i < rows[0].size(); ++i) {
        if (rows[0][i] == column) return rows.at(row).at(i);
    }
    return "no column " + column;
}

}  // namespace

class TestSessionCsv : public QObject {
    Q_OBJECT

private slots:
    void requests() {
        auto session = fixtureLoad();
        session.header.id = 12;
        session.requests[0].plannedNs = -5;
        session.requests[0].sentNs.reset();
        const auto csv = requestsToCsv(session);
        QVERIFY(
            csv.starts_with("session,number,planned_ns,sent_ns,scheduled_ns,prefill_end_ns,first_token_ns,end_ns,"
                            "prompt_tokens,cached_tokens,output_tokens,preemptions,finish_reason,detail,tier,"
                            "routing_reason,prefix_group,hung_up,delta_ns,prompt,output\r\n12,1,-5,,"));
        const auto rows = parsed(csv);
        QCOMPARE(rows.size(), std::size_t{3});
        QCOMPARE(cellOf(rows, 2, "hung_up"), std::string("true"));
        QCOMPARE(cellOf(rows, 2, "finish_reason"), std::string("stop"));
        QCOMPARE(cellOf(rows, 2, "delta_ns"), std::string("2095000000 2200000000 2400000000"));
        QCOMPARE(cellOf(rows, 2, "prompt"), std::string("What is latency?"));
    }

    void samples() {
        auto session = fixtureLoad();
        session.samples[1].watts = -0.5;
        const auto rows = parsed(samplesToCsv(session));
        QCOMPARE(rows.size(), std::size_t{3});
        QCOMPARE(cellOf(rows, 1, "queued"), std::string());
        QCOMPARE(cellOf(rows, 2, "queued"), std::string("0"));
        QCOMPARE(cellOf(rows, 2, "decode_tokens_per_s"), std::string("41.5"));
        QCOMPARE(cellOf(rows, 2, "power_watts"), std::string("-0.5"));
        QCOMPARE(parsed(samplesToCsv({})).size(), std::size_t{1});
    }

    void textsThatASpreadsheetWouldRun() {
        auto session = fixtureLoad();
        auto& request = session.requests[0];
        for (const auto* text :
             {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=HYPERLINK(\"http://a\",\"b\")"}) {
            request.prompt = request.detail = text;
            const auto rows = parsed(requestsToCsv(session));
            QCOMPARE(rows.size(), std::size_t{3});
            QCOMPARE(cellOf(rows, 1, "prompt"), "'" + std::string(text));
            QCOMPARE(cellOf(rows, 1, "detail"), "'" + std::string(text));
        }
        request.deltaNs = {-7, 8};
        QCOMPARE(cellOf(parsed(requestsToCsv(session)), 1, "delta_ns"), std::string("'-7 8"));
    }

    void anyTextComesBack() {
        std::mt19937_64 random(11);
        for (int round = 0; round < 300; ++round) {
            const auto session = randomSession(random);
            const auto rows = parsed(requestsToCsv(session));
            QCOMPARE(rows.size(), session.requests.size() + 1);
            for (std::size_t i = 0; i < session.requests.size(); ++i) {
                const auto& prompt = session.requests[i].prompt;
                const bool guarded = !prompt.empty() && std::string("=+-@\t\r\n").find(prompt[0]) != std::string::npos;
                QCOMPARE(cellOf(rows, i + 1, "prompt"), (guarded ? "'" : "") + prompt);
                QCOMPARE(cellOf(rows, i + 1, "planned_ns"), std::to_string(session.requests[i].plannedNs));
                for (const auto& cell : rows[i + 1]) QVERIFY(cell.empty() || cell[0] != '=');
            }
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestSessionCsv);

}  // namespace firsttoken::tests

#include "test_session_csv.moc"
