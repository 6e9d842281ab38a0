#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
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

    void listsTheNewestFirst() {
        auto store = opened(freshPath());
        auto data = fixtureChat();
        const auto first = *store->insert(data);
        data.header.startedAt -= 100;
        const auto older = *store->insert(data);
        const auto second = *store->insert(fixtureLoad());
        const auto list = store->list();
        QCOMPARE(list->size(), std::size_t{3});
        QCOMPARE((*list)[0].id, second);
        QCOMPARE((*list)[1].id, first);
        QCOMPARE((*list)[2].id, older);
        const auto& h = fixtureLoad().header;
        const SessionSummary expected{second, h.kind,    h.state,     h.startedAt, h.endedAt,     h.title,
                                      h.note, h.starred, h.modelName, h.modelPath, h.profileName, 2};
        QVERIFY((*list)[0] == expected);
    }

    void changesOneSession() {
        auto store = opened(freshPath());
        const auto id = *store->insert(fixtureChat());
        QVERIFY(store->rename(id, "title \"two\"").ok());
        QVERIFY(store->setNote(id, "").ok());
        QVERIFY(store->setStarred(id, false).ok());
        const auto header = store->header(id);
        QCOMPARE(header->title, std::string("title \"two\""));
        QVERIFY(header->note.empty());
        QVERIFY(!header->starred);
        const auto absent = id + 1;
        QVERIFY(store->rename(absent, "x").error().code == ErrorCode::NotFound);
        QVERIFY(store->setNote(absent, "x").error().code == ErrorCode::NotFound);
        QVERIFY(store->setStarred(absent, true).error().code == ErrorCode::NotFound);
        QVERIFY(store->remove(absent).error().code == ErrorCode::NotFound);
        QVERIFY(store->load(absent).error().code == ErrorCode::NotFound);
        QVERIFY(store->header(absent).error().code == ErrorCode::NotFound);
    }

    void removingFreesTheSpaceAndTheWords() {
        const auto path = freshPath();
        const auto bytesOnDisk = [&] {
            QByteArray bytes;
            for (const auto* end : {"", "-wal"}) {
                QFile file(QString::fromStdString(path + end));
                if (file.open(QIODevice::ReadOnly)) bytes += file.readAll();
            }
            return bytes;
        };
        auto store = opened(path);
        const auto kept = *store->insert(fixtureChat());
        const auto before = bytesOnDisk().size();
        auto secret = largeLoad(3000);
        secret.header.kind = SessionKind::Chat;
        secret.requests[7].prompt = "my xylophone is purple";
        const auto id = *store->insert(secret);
        QVERIFY(bytesOnDisk().contains("xylophone"));
        QVERIFY(bytesOnDisk().size() > before + 500'000);
        QVERIFY(store->remove(id).ok());
        QVERIFY(!bytesOnDisk().contains("xylophone"));
        QVERIFY2(bytesOnDisk().size() < before + 100'000, qPrintable(QString::number(bytesOnDisk().size())));
        QVERIFY(store->load(kept).ok());
        // An id never comes back: a note elsewhere may name it.
        QVERIFY(*store->insert(fixtureChat()) > id);
    }

    void aRunningSessionIsNotRemoved() {
        auto store = opened(freshPath());
        auto writer = std::move(*store->begin({}));
        const auto refused = store->remove(writer->id());
        QVERIFY(refused.error().code == ErrorCode::Rejected);
        QVERIFY(refused.error().message.find("is running") != std::string::npos);
        QVERIFY(writer->end(SessionState::Cancelled).ok());
        QVERIFY(store->remove(writer->id()).ok());
    }

    void endsOnce() {
        auto store = opened(freshPath());
        auto writer = std::move(*store->begin({}));
        QVERIFY(writer->end(SessionState::Failed, "no model").ok());
        QVERIFY(!writer->end(SessionState::Completed).ok());
        writer->mark({1, MarkKind::Note, "late"});
        QVERIFY(writer->error().has_value());
        const auto loaded = store->load(writer->id());
        QVERIFY(loaded->header.state == SessionState::Failed);
        QCOMPARE(loaded->header.failure, std::string("no model"));
        QVERIFY(loaded->marks.empty());
    }

    void importedSessions() {
        auto store = opened(freshPath());
        auto data = fixtureLoad();
        data.header.id = 77;
        data.header.state = SessionState::Running;
        QVERIFY(stored(*store, data).header.state == SessionState::Interrupted);
        data.requests.push_back(data.requests.front());
        const auto refused = store->insert(data);
        QVERIFY(refused.error().code == ErrorCode::BadInput);
        QVERIFY(refused.error().message.find("number 1") != std::string::npos);
        QCOMPARE(store->list()->size(), std::size_t{1});
    }

    void numbersThatAreNoneAreUnknown() {
        auto store = opened(freshPath());
        auto data = fixtureLoad();
        data.header.startedAt = std::nan("");
        data.header.endedAt = std::nan("");
        data.samples[1].watts = std::nan("");
        const auto loaded = stored(*store, data);
        QCOMPARE(loaded.header.startedAt, 0.0);
        QVERIFY(!loaded.header.endedAt);
        QVERIFY(!loaded.samples[1].watts);
    }

    void hashesBelongToOneStateOfAFile() {
        auto store = opened(freshPath());
        const auto model = m_folder.filePath(QStringLiteral("model.gguf"));
        const auto path = model.toStdString();
        QVERIFY(!store->cachedModelHash(path));
        store->cacheModelHash(path, "absent files have none");
        QVERIFY(!store->cachedModelHash(path));
        QFile file(model);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("weights");
        file.close();
        store->cacheModelHash(path, "abc");
        QCOMPARE(store->cachedModelHash(path).value_or(""), std::string("abc"));
        QCOMPARE(store->cachedModelHash(m_folder.path().toStdString() + "/./model.gguf").value_or(""),
                 std::string("abc"));
        QVERIFY(file.open(QIODevice::Append));
        file.write("more");
        file.close();
        QVERIFY(!store->cachedModelHash(path));
        store->cacheModelHash(path, "def");
        QCOMPARE(store->cachedModelHash(path).value_or(""), std::string("def"));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QVERIFY(file.setFileTime(QDateTime::fromSecsSinceEpoch(1), QFileDevice::FileModificationTime));
        file.close();
        QVERIFY(!store->cachedModelHash(path));
    }

    void theFileIsPrivate() {
        const auto path = freshPath();
        const auto store = opened(path);
        const auto permissions = QFile::permissions(QString::fromStdString(path));
        QVERIFY(!(permissions & (QFileDevice::ReadGroup | QFileDevice::ReadOther)));
    }

    void defaultPath() {
        qputenv("XDG_DATA_HOME", "/somewhere/data");
        QCOMPARE(defaultDatabasePath(), std::string("/somewhere/data/firsttoken/sessions.sqlite"));
        qputenv("XDG_DATA_HOME", "relative");
        qputenv("HOME", "/somebody");
        QCOMPARE(defaultDatabasePath(), std::string("/somebody/.local/share/firsttoken/sessions.sqlite"));
    }
};

FIRSTTOKEN_TEST_CLASS(TestSessionStore);

}  // namespace firsttoken::tests

#include "test_session_store.moc"
