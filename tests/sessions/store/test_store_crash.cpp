#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <chrono>
#include <random>
#include <thread>

#include "sessions/session_store.h"
#include "tests/sessions/store/numbered_request.h"
#include "tests/sessions/store/raw_database.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

using namespace sessions;

/// What a killed writer had said.
struct Reports {
    SessionId session = 0;
    std::vector<std::uint64_t> commitsAt;  ///< [number − 1]: commits when that request had been given to the store

    void take(const QByteArray& line) {
        const auto words = line.trimmed().split(' ');
        if (words.size() != 2) return;
        if (words[0] == "session") {
            session = words[1].toLongLong();
        } else {
            commitsAt.push_back(words[1].toULongLong());
        }
    }
    /// A commit may have begun just before a request came; the one after it holds the request.
    std::size_t certainlyCommitted() const {
        std::size_t count = 0;
        while (count < commitsAt.size() && commitsAt[count] + 2 <= commitsAt.back()) ++count;
        return count;
    }
};

class TestStoreCrash : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    static Reports runAndKill(const QString& database, std::size_t afterReports) {
        QProcess process;
        process.start(QStringLiteral(STORE_HELPER), {QStringLiteral("write"), database});
        Reports reports;
        while (reports.commitsAt.size() < afterReports && process.waitForReadyRead(-1)) {
            while (process.canReadLine()) reports.take(process.readLine());
        }
        process.kill();
        process.waitForFinished(-1);
        while (process.canReadLine()) reports.take(process.readLine());
        return reports;
    }

private slots:
    void nothingCommittedIsEverLost() {
        const auto database = m_folder.filePath(QStringLiteral("killed.sqlite"));
        const auto path = database.toStdString();
        std::mt19937_64 random(20);
        std::size_t certain = 0;
        for (int round = 1; round <= 20; ++round) {
            const auto reports = runAndKill(database, 1 + random() % 2500);
            QVERIFY2(!reports.commitsAt.empty(), "the writer wrote nothing");
            certain += reports.certainlyCommitted();

            QCOMPARE(RawDatabase(path).query("PRAGMA integrity_check"), QStringLiteral("ok"));
            auto store = SessionStore::open({.path = path});
            QVERIFY2(store.ok(), store.ok() ? "" : store.error().message.c_str());
            const auto loaded = (*store)->load(reports.session);
            QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
            QVERIFY(loaded->header.state == SessionState::Interrupted);
            QVERIFY(loaded->requests.size() >= reports.certainlyCommitted());
            for (std::size_t i = 0; i < loaded->requests.size(); ++i) {
                QVERIFY(loaded->requests[i] == numberedRequest(static_cast<std::int64_t>(i) + 1));
            }
            // A span goes with its request, but for one that came between two commits.
            QVERIFY(loaded->spans.size() + 1 >= loaded->requests.size());
            const auto list = (*store)->list();
            QCOMPARE(list->size(), static_cast<std::size_t>(2 * round - 1));
            QCOMPARE(list->front().requests, static_cast<std::int64_t>(loaded->requests.size()));

            auto next = (*store)->begin({});
            QVERIFY(next.ok());
            (*next)->request(numberedRequest(1));
            QVERIFY((*next)->end(SessionState::Completed).ok());
        }
        // Else the rounds would have proved nothing.
        QVERIFY2(certain > 1000, qPrintable(QStringLiteral("%1 requests were certain").arg(certain)));
    }

    void commitsAtLeastOnceASecond() { QVERIFY(SessionStore::Options{}.commitEvery < std::chrono::seconds(1)); }

    /// With the interval of the product, and nothing that asks for a commit.
    void commitsByItself() {
        const auto path = m_folder.filePath(QStringLiteral("alone.sqlite")).toStdString();
        auto store = std::move(*SessionStore::open({.path = path}));
        auto writer = std::move(*store->begin({}));
        writer->request(numberedRequest(1));
        while (store->load(writer->id())->requests.empty()) std::this_thread::yield();
        QVERIFY(store->load(writer->id())->header.state == SessionState::Running);
    }

    void aWriterThatIsDroppedIsInterrupted() {
        const auto path = m_folder.filePath(QStringLiteral("dropped.sqlite")).toStdString();
        auto store = std::move(*SessionStore::open({.path = path}));
        auto other = std::move(*store->begin({}));
        SessionId id = 0;
        {
            auto writer = std::move(*store->begin({}));
            id = writer->id();
            writer->request(numberedRequest(1));
        }
        QVERIFY(store->setStarred(id, true).ok());  // comes after what was queued
        const auto loaded = store->load(id);
        QVERIFY(loaded->header.state == SessionState::Interrupted);
        QVERIFY(!loaded->header.endedAt);
        QCOMPARE(loaded->requests.size(), std::size_t{1});
        QVERIFY(store->header(other->id())->state == SessionState::Running);
        QVERIFY(store->remove(id).ok());
        // Its program goes on to the end of the store, and no further.
        store.reset();
        other->request(numberedRequest(1));
        QVERIFY(other->error().has_value());
        QVERIFY(!other->end(SessionState::Completed).ok());
        other.reset();
        store = std::move(*SessionStore::open({.path = path}));
        QVERIFY(store->list()->front().state == SessionState::Interrupted);
    }
};

FIRSTTOKEN_TEST_CLASS(TestStoreCrash);

}  // namespace firsttoken::tests

#include "test_store_crash.moc"
