#include <QtTest>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "sessions/export/session_json.h"
#include "tests/sessions/store/sample_sessions.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

using namespace sessions;
using engine::ErrorCode;
using json = nlohmann::ordered_json;

class TestSessionJson : public QObject {
    Q_OBJECT

    /// The message of a refusal; empty where it was taken.
    static QString refusal(const std::string& text, ErrorCode code = ErrorCode::BadInput) {
        const auto session = fromJson(text);
        if (session) return {};
        if (session.error().code != code) return QStringLiteral("another code");
        return QString::fromStdString(session.error().message);
    }
    /// The fixture's document with one change.
    template <class Change>
    static std::string changed(const Change& change) {
        auto document = json::parse(toJson(fixtureLoad()));
        change(document);
        return document.dump();
    }

private slots:
    void roundTrips() {
        std::mt19937_64 random(7);
        for (int round = 0; round < 500; ++round) {
            const auto session = plausibleSession(random);
            const auto text = toJson(session);
            const auto read = fromJson(text);
            QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
            QVERIFY2(*read == session, text.c_str());
        }
        for (const auto& session : {fixtureChat(), fixtureLoad(), SessionData{}, largeLoad(300)}) {
            QVERIFY(*fromJson(toJson(session)) == session);
        }
    }

    void isWhatItSays() {
        const auto document = json::parse(toJson(fixtureLoad()));
        QCOMPARE(document["format"], json("firsttoken-session"));
        QCOMPARE(document["version"], json(1));
        QCOMPARE(document["session"]["state"], json("failed"));
        QCOMPARE(document["session"]["seed"], json(0xFFFF'FFFF'FFFF'FFFEU));
        QCOMPARE(document["session"]["workload"]["clients"], json(16));
        QCOMPARE(document["requests"][1]["first_token_ns"], json(2'095'000'000));
        QCOMPARE(document["requests"][1]["finish_reason"], json("stop"));
        QCOMPARE(document["samples"][0]["queued"], json());
        QCOMPARE(document["samples"][1]["queued"], json(0));
        QCOMPARE(document["spans"][0]["stage"], json("queue"));
        QCOMPARE(document["marks"][1]["kind"], json("load_end"));
    }

    void everyFieldIsThere() {
        // A field that a record gains must be exported too: then this test and record_fields.h change together.
        const auto document = json::parse(toJson(fixtureLoad()));
        QCOMPARE(document["session"].size(), std::size_t{27});
        QCOMPARE(document["requests"][0].size(), std::size_t{20});
        QCOMPARE(document["spans"][0].size(), std::size_t{4});
        QCOMPARE(document["samples"][0].size(), std::size_t{18});
        QCOMPARE(document["marks"][0].size(), std::size_t{3});
    }

    void embeddedTextsStayAsTheyAre() {
        auto session = fixtureLoad();
        for (const auto* text : {"", "plain", "{\"b\":1,\"a\":[1.5,null]}", "{ \"spaced\": 1 }", "{\"a\":1e2}", "[]",
                                 "\"text\"", "null", "{\"a\":1,\"a\":2}", "{broken", "[\"\\u00e9\"]", "[1e999]"}) {
            session.header.requestedProfile = text;
            const auto read = fromJson(toJson(session));
            QVERIFY2(read.ok(), text);
            QCOMPARE(read->header.requestedProfile, std::string(text));
        }
        session.header.machine = std::string(100, '[') + std::string(100, ']');
        QVERIFY(*fromJson(toJson(session)) == session);
        session.header.machine = "{\"0\":0";
        for (int i = 1; i < 3000; ++i) session.header.machine += ",\"" + std::to_string(i) + "\":0";
        session.header.machine += "}";
        QVERIFY(*fromJson(toJson(session)) == session);
    }

    void whatJsonCannotHold() {
        auto session = fixtureLoad();
        session.header.title = "broken \xFF text";
        session.header.startedAt = std::nan("");
        session.samples[1].watts = std::numeric_limits<double>::infinity();
        const auto read = fromJson(toJson(session));
        QVERIFY(read.ok());
        QCOMPARE(read->header.title, std::string("broken \xEF\xBF\xBD text"));
        QCOMPARE(read->header.startedAt, 0.0);
        QVERIFY(!read->samples[1].watts);
    }

    void listsArePutInOrder() {
        const auto text = changed([](json& document) {
            for (const auto* list : {"requests", "marks", "samples"}) {
                std::reverse(document[list].begin(), document[list].end());
            }
        });
        QVERIFY(*fromJson(text) == fixtureLoad());
    }

    void unknownAndMissingNames() {
        QVERIFY(*fromJson(changed([](json& document) {
            document["further"] = {1, 2};
            document["session"]["further"] = "x";
            document["requests"][0]["further"] = json::object();
        })) == fixtureLoad());
        QCOMPARE(refusal(changed([](json& document) { document["requests"][1].erase("number"); })),
                 QStringLiteral("requests[1].number is missing"));
        QCOMPARE(refusal(changed([](json& document) { document["session"].erase("kind"); })),
                 QStringLiteral("session.kind is missing"));
        const auto bare = fromJson(
            R"({"format":"firsttoken-session","version":1,"session":{"kind":"chat","state":"completed","started_at":5}})");
        QVERIFY(bare.ok());
        QVERIFY(bare->requests.empty());
        QCOMPARE(bare->header.startedAt, 5.0);
    }

    void faultsNameTheirPlace_data() {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* pointer, const char* value, const char* message) {
            QTest::addRow("%s %s", pointer, value) << pointer << value << message;
        };
        row("/format", "\"other\"", "this is no exported session");
        row("/version", "0", "version must be");
        row("/version", "\"1\"", "version must be");
        row("/session", "[]", "session must be an object");
        row("/session/state", "\"dancing\"", "session.state must be one of the names");
        row("/session/state", "7", "session.state must be");
        row("/session/started_at", "\"now\"", "session.started_at must be a number");
        row("/session/model_bytes", "-1", "session.model_bytes must be");
        row("/session/seed", "1.5", "session.seed must be");
        row("/session/title", "null", "session.title must be a text");
        row("/session/starred", "1", "session.starred must be true or false");
        row("/requests", "{}", "requests must be a list");
        row("/requests/1", "3", "requests[1] must be an object");
        row("/requests/1/planned_ns", "1.0", "requests[1].planned_ns must be a whole number");
        row("/requests/1/planned_ns", "18446744073709551615", "requests[1].planned_ns must be a whole number");
        row("/requests/1/planned_ns", "9223372036854775807", "requests[1].planned_ns must be a whole number");
        row("/requests/0/number", "2", "two requests have the number 2");
        row("/requests/0/number", "0", "requests[0].number must be");
        row("/requests/0/prompt_tokens", "-1", "requests[0].prompt_tokens must be");
        row("/requests/0/delta_ns", "[3,2]", "requests[0].delta_ns must be a list of whole numbers that ascend");
        row("/requests/0/delta_ns", "[18446744073709551615]", "requests[0].delta_ns must be");
        row("/requests/0/delta_ns", "[\"1\"]", "requests[0].delta_ns must be");
        row("/spans/2/stage", "\"lunch\"", "spans[2].stage must be");
        row("/samples/1/power_watts", "\"a\"", "samples[1].power_watts must be a number");
        row("/marks/0/kind", "null", "marks[0].kind must be");
    }
    void faultsNameTheirPlace() {
        QFETCH(QString, pointer);
        QFETCH(QString, value);
        QFETCH(QString, message);
        const auto text = changed([&](json& document) {
            document[json::json_pointer(pointer.toStdString())] = json::parse(value.toStdString());
        });
        const auto refused = refusal(text);
        QVERIFY2(refused.startsWith(message), qPrintable(refused));
    }

    void newerVersions() {
        const auto text = changed([](json& document) { document["version"] = 2; });
        QVERIFY(refusal(text, ErrorCode::Unsupported).contains(QStringLiteral("newer version of this program")));
    }

    void notJsonAtAll() {
        const auto error = fromJson("{\"format\": \"firsttoken-session\",\n  oops}").error();
        QCOMPARE(error.line, 2);
        QCOMPARE(error.column, 3);
        QVERIFY(QString::fromStdString(error.message).startsWith(QStringLiteral("line 2, column 3: ")));
        for (const auto* text : {"", "{", "[]", "null", "3", "\"\xFF\"", "[1e999]", "{\"format\":1}"}) {
            QVERIFY2(!refusal(text).isEmpty(), text);
        }
    }

    void hostileSizes() {
        QVERIFY(refusal(std::string(1'000'000, '[')).contains(QStringLiteral("nested too deeply")));
        QVERIFY(!refusal(R"({"format":"firsttoken-session","x":)" + std::string(500'000, '[') +
                         std::string(500'000, ']') + "}")
                     .isEmpty());
        std::string names = "{\"format\":\"firsttoken-session\"";
        for (int i = 0; i < 300'000; ++i) names += ",\"" + std::to_string(i) + "\":0";
        QVERIFY(refusal(names + "}").contains(QStringLiteral("too many names")));
    }

    void brokenDocumentsNeverCrash() {
        std::mt19937_64 random(9);
        const auto whole = toJson(fixtureChat());
        for (int round = 0; round < 3000; ++round) {
            auto text = whole;
            for (auto edits = 1 + random() % 4; edits > 0; --edits) {
                const auto at = random() % text.size();
                switch (random() % 3) {
                    case 0:
                        text[at] = "{}[]\",:0-9e.ntf\\"[random() % 17];
                        break;
                    case 1:
                        text.erase(at, random() % 20);
                        break;
                    default:
                        text.insert(at, text.substr(random() % text.size(), random() % 20));
                }
                if (text.empty()) text = " ";
            }
            const auto read = fromJson(text);
            if (!read) continue;
            const auto again = fromJson(toJson(*read));
            QVERIFY2(again.ok() && *again == *read, again.ok() ? text.c_str() : again.error().message.c_str());
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestSessionJson);

}  // namespace firsttoken::tests

#include "test_session_json.moc"
