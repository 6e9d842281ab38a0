#include <QTemporaryDir>
#include <QtTest>
#include <random>

#include "sessions/session_store.h"
#include "tests/sessions/store/sample_sessions.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

using namespace sessions;
using engine::ErrorCode;

class TestSessionStore : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_count = 0;

    std::string freshPath() { return m_folder.filePath(QStringLiteral("s%1.sqlite").arg(++m_count)).toStdString(); }
    static std::unique_ptr<SessionStore> opened(const std::string& path) {
        auto store = SessionStore::open({.path = path});
        if (!store) qFatal("%s", store.error().message.c_str());
        return std::move(*store);
    }
    static SessionData stored(SessionStore& store, const SessionData& data) {
        const auto id = store.insert(data);
        if (!id) qFatal("%s", id.error().message.c_str());
        auto loaded = store.load(*id);
        if (!loaded) qFatal("%s", loaded.error().message.c_str());
        return std::move(*loaded);
    }

private slots:
    void writesARunningSession() {
        const auto path = freshPath();
        auto store = opened(path);
        auto data = fixtureChat();
        auto begun = store->begin(data.header);
        QVERIFY(begun.ok());
        auto& writer = **begun;
        QVERIFY(writer.id() > 0);
        QVERIFY(store->header(writer.id())->state == SessionState::Running);
        auto early = data.requests[0];
        early.endNs.reset();
        early.output = "half of it";
        writer.request(early);
        for (const auto& request : data.requests) writer.request(request);
        for (const auto& span : data.spans) writer.span(span);
        for (const auto& sample : data.samples) writer.sample(sample);
        for (const auto& mark : data.marks) writer.mark(mark);
        writer.setTitle("another title");
        writer.setModelHash(std::string(64, 'b'));
        QVERIFY(writer.end(SessionState::Completed).ok());
        QVERIFY(!writer.error());

        const auto loaded = store->load(writer.id());
        QVERIFY(loaded.ok());
        QVERIFY(loaded->header.endedAt.has_value());
        data.header.endedAt = loaded->header.endedAt;
        data.header.id = writer.id();
        data.header.title = "another title";
        data.header.modelHash = std::string(64, 'b');
        QVERIFY(*loaded == data);
        const auto list = store->list();
        QCOMPARE(list->size(), std::size_t{1});
        QCOMPARE(list->front().requests, std::int64_t{2});
    }

    void roundTripsOfRandomRecords() {
        auto store = opened(freshPath());
        std::mt19937_64 random(20260101);
        for (int i = 0; i < 200; ++i) {
            auto data = randomSession(random);
            const auto loaded = stored(*store, data);
            data.header.id = loaded.header.id;
            QVERIFY2(loaded == data, qPrintable(QStringLiteral("round %1").arg(i)));
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestSessionStore);

}  // namespace firsttoken::tests

#include "test_session_store.moc"
