#include <QTemporaryDir>
#include <QtTest>

#include "sessions/session_store.h"
#include "sessions/store/search_words.h"
#include "tests/sessions/store/sample_sessions.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

using namespace sessions;

class TestStoreSearch : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<SessionStore> m_store;

    SessionId add(SessionKind kind, const std::string& title, const std::string& note, const std::string& prompt,
                  const std::string& output) {
        SessionData data;
        data.header.kind = kind;
        data.header.state = SessionState::Completed;
        data.header.startedAt = static_cast<double>(++m_started);
        data.header.title = title;
        data.header.note = note;
        RequestRecord request;
        request.number = 1;
        request.prompt = prompt;
        request.output = output;
        data.requests = {request};
        return *m_store->insert(data);
    }
    std::vector<SessionId> found(const std::string& search) {
        const auto list = m_store->list(search);
        if (!list) qFatal("%s", list.error().message.c_str());
        std::vector<SessionId> ids;
        for (const auto& summary : *list) ids.push_back(summary.id);
        return ids;
    }
    using Ids = std::vector<SessionId>;
    int m_started = 0;

private slots:
    void init() {
        const auto path = m_folder.filePath(QStringLiteral("%1.sqlite").arg(++m_started)).toStdString();
        m_store = std::move(*SessionStore::open({.path = path}));
    }
    void cleanup() { m_store.reset(); }

    void findsEveryText() {
        const auto a =
            add(SessionKind::Chat, "Über latency", "remember the milk", "What is a café?", "It sells coffee");
        const auto b = add(SessionKind::Chat, "Other", "", "漢字 and 😀", "none");
        QVERIFY(found("") == (Ids{b, a}));
        QVERIFY(found("  ") == (Ids{b, a}));
        for (const auto* word :
             {"latency", "LATENCY", "uber", "lat", "milk", "cafe", "café?", "coff", "café milk uber"}) {
            QVERIFY2(found(word) == Ids{a}, word);
        }
        QVERIFY(found("漢字") == Ids{b});
        QVERIFY(found("latency nowhere").empty());
        QVERIFY(found("atency").empty());
    }

    void wordsOfALoadAreNotSearched() {
        const auto load = add(SessionKind::Load, "Sixteen clients", "", "harbour lantern", "meadow");
        QVERIFY(found("lantern").empty());
        QVERIFY(found("sixteen") == Ids{load});
    }

    void followsChanges() {
        const auto id = add(SessionKind::Chat, "before", "old", "p", "o");
        QVERIFY(m_store->rename(id, "after").ok());
        QVERIFY(m_store->setNote(id, "new").ok());
        QVERIFY(found("before").empty());
        QVERIFY(found("old").empty());
        QVERIFY(found("after new") == Ids{id});
        QVERIFY(m_store->remove(id).ok());
        QVERIFY(found("after").empty());
        QVERIFY(found("").empty());
    }

    void aReplacedOutputIsFoundOnce() {
        auto writer = std::move(*m_store->begin(fixtureChat().header));
        RequestRecord request;
        request.number = 1;
        request.output = "unfinished";
        writer->request(request);
        request.output = "whole answer";
        writer->request(request);
        QVERIFY(writer->end(SessionState::Completed).ok());
        QVERIFY(found("unfinished").empty());
        QVERIFY(found("answer") == Ids{writer->id()});
    }

    void nothingTypedIsSyntax() {
        const auto id = add(SessionKind::Chat, "a-b \"c\" AND d*e", "", "title: x", "");
        for (const auto* typed : {"a-b", "\"c\"", "AND", "d*e", "title:", "NEAR(", "(", "*", "^", "\"", "-", "a OR",
                                  "{title}", "'; DROP TABLE session", "\xFF\xFE", "a\"\"b"}) {
            QVERIFY2(m_store->list(typed).ok(), typed);
        }
        QVERIFY(found("a-b") == Ids{id});
        QVERIFY(found("- \"c\"") == Ids{id});
        QVERIFY(found("AND") == Ids{id});
        QVERIFY(found("*").empty());
    }

    void wordsAreBounded() {
        QVERIFY(searchWords("lat 'x\"y' - ") == (std::vector<std::string>{"\"lat\"*", "\"'x\"\"y'\"*"}));
        QCOMPARE(searchWords(std::string(100'000, 'a')).front().size(), std::size_t{256 + 3});
        std::string many;
        for (int i = 0; i < 1000; ++i) many += "w ";
        QCOMPARE(searchWords(many).size(), std::size_t{16});
        QVERIFY(m_store->list(many).ok());
    }
};

FIRSTTOKEN_TEST_CLASS(TestStoreSearch);

}  // namespace firsttoken::tests

#include "test_store_search.moc"
