#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "sessions/session_store.h"
#include "tests/sessions/store/numbered_request.h"
#include "tests/sessions/store/raw_database.h"
#include "tests/sessions/store/sample_sessions.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

using namespace sessions;
using engine::Error;
using engine::ErrorCode;

class TestStoreFaults : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_count = 0;

    std::string freshPath() { return m_folder.filePath(QStringLiteral("f%1.sqlite").arg(++m_count)).toStdString(); }
    /// A small tmpfs; empty where this user may not mount one.
    QString mountTmpfs() {
        const auto folder = m_folder.filePath(QStringLiteral("full"));
        std::filesystem::create_directory(folder.toStdString());
        if (::mount("tmpfs", folder.toStdString().c_str(), "tmpfs", 0, "size=512k") != 0) return {};
        return folder;
    }
    struct Said {
        int exitCode = -1;
        QStringList lines;
    };
    static Said runHelper(const QStringList& arguments) {
        QProcess process;
        process.start(QStringLiteral(STORE_HELPER), arguments);
        process.waitForFinished(-1);
        Said said;
        said.exitCode = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
        said.lines = QString::fromUtf8(process.readAllStandardOutput()).split(u'\n', Qt::SkipEmptyParts);
        return said;
    }
    static Said runHelper(const QString& mode, const std::string& path) {
        return runHelper({mode, QString::fromStdString(path)});
    }
    static bool names(const Error& error, const std::string& part) {
        const bool found = error.message.find(part) != std::string::npos;
        if (!found) qWarning("%s", error.message.c_str());
        return found;
    }
    static void write(const std::string& path, const QByteArray& bytes, qint64 at = 0) {
        QFile file(QString::fromStdString(path));
        if (!file.open(QIODevice::ReadWrite) || !file.seek(at)) qFatal("cannot write a test file");
        file.write(bytes);
    }

private slots:
    void noDatabaseAtAll() {
        const auto path = freshPath();
        write(path, QByteArray("this is a letter, and no database. ").repeated(100));
        const auto store = SessionStore::open({.path = path});
        QVERIFY(!store.ok());
        QVERIFY(store.error().code == ErrorCode::Io);
        QVERIFY(names(store.error(), path + " is damaged"));
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::ReadOnly) && file.readAll().startsWith("this is a letter"));
    }

    void damagedPages() {
        const auto path = freshPath();
        SessionId id = 0;
        {
            auto store = std::move(*SessionStore::open({.path = path}));
            id = *store->insert(largeLoad(2000));
        }
        const auto size = static_cast<qint64>(std::filesystem::file_size(path));
        for (qint64 at = 64 * 4096; at + 4096 <= size; at += 3 * 4096) write(path, QByteArray(4096, '\x5A'), at);
        auto store = SessionStore::open({.path = path});
        QVERIFY2(store.ok(), "what is whole can be read");
        const auto loaded = (*store)->load(id);
        QVERIFY(!loaded.ok());
        QVERIFY(loaded.error().code == ErrorCode::Io);
        QVERIFY(names(loaded.error(), path + " is damaged"));
    }

    void damagedSchema() {
        const auto path = freshPath();
        QVERIFY(SessionStore::open({.path = path}).ok());
        RawDatabase(path).query("DROP TABLE mark");
        auto store = std::move(*SessionStore::open({.path = path}));
        const auto begun = store->begin({});
        QVERIFY(!begun.ok());
        QVERIFY(names(begun.error(), "is damaged: no such table"));
        QVERIFY(store->list().ok());
    }

    void damagedValues() {
        const auto path = freshPath();
        auto store = std::move(*SessionStore::open({.path = path}));
        const auto id = *store->insert(fixtureLoad());
        QVERIFY(store->load(id).ok());
        RawDatabase(path).query("UPDATE request SET deltas = x'05' WHERE number = 2");
        QVERIFY(names(store->load(id).error(), "request 2 of session"));
        RawDatabase(path).query("DELETE FROM request; UPDATE span_chunk SET spans = x'0101'");
        QVERIFY(names(store->load(id).error(), "the spans of session"));
        RawDatabase(path).query("UPDATE session SET state = 'dancing'");
        QVERIFY(!store->list().ok());
        QVERIFY(names(store->header(id).error(), "is damaged"));
    }

    void impossiblePaths() {
        const auto folder = SessionStore::open({.path = m_folder.path().toStdString()});
        QVERIFY(folder.error().code == ErrorCode::Io);
        QVERIFY(names(folder.error(), "is a folder"));
        QVERIFY(SessionStore::open({.path = ""}).error().code == ErrorCode::BadInput);
        const auto file = freshPath();
        write(file, "x");
        QVERIFY(SessionStore::open({.path = file + "/below/a.sqlite"}).error().code == ErrorCode::Io);
        QVERIFY(SessionStore::open({.path = m_folder.path().toStdString() + "/new/folders/a?b#c%41.sqlite"}).ok());
        QVERIFY(std::filesystem::exists(m_folder.path().toStdString() + "/new/folders/a?b#c%41.sqlite"));
    }

    void newerSchema() {
        const auto path = freshPath();
        QVERIFY(SessionStore::open({.path = path}).ok());
        RawDatabase(path).query("PRAGMA user_version = 99");
        const auto store = SessionStore::open({.path = path});
        QVERIFY(!store.ok());
        QVERIFY(store.error().code == ErrorCode::Unsupported);
        QVERIFY(names(store.error(), "newer version of this program"));
        QVERIFY(names(store.error(), "99"));
        QCOMPARE(RawDatabase(path).query("PRAGMA user_version"), QStringLiteral("99"));
    }

    void becomesNewerWhileOpen() {
        const auto path = freshPath();
        auto store = std::move(*SessionStore::open({.path = path}));
        const auto id = *store->insert(fixtureChat());
        RawDatabase(path).query("PRAGMA user_version = 99");
        QVERIFY(store->begin({}).error().code == ErrorCode::Unsupported);
        QVERIFY(store->remove(id).error().code == ErrorCode::Unsupported);
    }

    void fileIsRemovedWhileOpen() {
        const auto path = freshPath();
        auto store = std::move(*SessionStore::open({.path = path}));
        auto writer = std::move(*store->begin({}));
        QVERIFY(store->list().ok());
        for (const auto* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
        writer->request(numberedRequest(1));
        const auto ended = writer->end(SessionState::Completed);
        QVERIFY(!ended.ok());
        QVERIFY(names(ended.error(), "was removed"));
    }

    void fileIsRemovedBetweenSessions() {
        const auto path = freshPath();
        auto store = std::move(*SessionStore::open({.path = path}));
        QVERIFY(store->insert(fixtureChat()).ok());
        QCOMPARE(store->list()->size(), std::size_t{1});
        for (const auto* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
        QVERIFY(store->insert(fixtureLoad()).ok());
        QCOMPARE(store->list()->size(), std::size_t{1});
        QVERIFY(store->list()->front().kind == SessionKind::Load);
    }

    void anotherProgramWrites() {
        const auto path = freshPath();
        QProcess holder;
        holder.start(QStringLiteral(STORE_HELPER), {QStringLiteral("hold"), QString::fromStdString(path)});
        while (!holder.canReadLine()) QVERIFY(holder.waitForReadyRead(-1));
        const SessionId theirs = holder.readLine().trimmed().split(' ').at(1).toLongLong();

        auto opened = SessionStore::open({.path = path});
        QVERIFY2(opened.ok(), "reading must go on");
        auto store = std::move(*opened);
        QCOMPARE(store->list()->size(), std::size_t{1});
        QVERIFY(store->load(theirs)->header.state == SessionState::Running);
        const auto pid = std::to_string(holder.processId());
        for (const auto& refused :
             {store->begin({}).ok() ? Error{} : store->begin({}).error(), store->remove(theirs).error(),
              store->rename(theirs, "x").error(), store->insert(fixtureChat()).error()}) {
            QVERIFY(refused.code == ErrorCode::Rejected);
            QVERIFY(names(refused, "another program (process " + pid + ") is writing to " + path));
        }
        holder.closeWriteChannel();
        holder.waitForFinished(-1);
        QCOMPARE(holder.readAll().trimmed(), QByteArray("ended"));
        QVERIFY(store->header(theirs)->state == SessionState::Completed);
        auto writer = store->begin({});
        QVERIFY(writer.ok());

        // And the other way round: this program's session is not the other's to end.
        const auto other = runHelper("hold", path);
        QCOMPARE(other.exitCode, 1);
        QVERIFY(other.lines.value(0).contains(QString::number(QCoreApplication::applicationPid())));
        QVERIFY(store->header((*writer)->id())->state == SessionState::Running);
        QVERIFY((*writer)->end(SessionState::Completed).ok());
    }

    void twoStoresOfOneProgram() {
        const auto path = freshPath();
        auto first = std::move(*SessionStore::open({.path = path}));
        auto second = std::move(*SessionStore::open({.path = path}));
        auto writer = std::move(*first->begin({}));
        QVERIFY(names(second->begin({}).error(), "this program is writing to"));
        QCOMPARE(second->list()->size(), std::size_t{1});
        QVERIFY(writer->end(SessionState::Completed).ok());
        QVERIFY(second->begin({}).ok());
    }

    /// Something that is not this program holds SQLite's own lock.
    void aForeignLockDelaysAndLosesNothing() {
        const auto path = freshPath();
        auto store = std::move(*SessionStore::open({.path = path, .commitEvery = std::chrono::milliseconds(1)}));
        auto writer = std::move(*store->begin({}));
        RawDatabase raw(path);
        QCOMPARE(raw.query("BEGIN IMMEDIATE"), QString());
        for (int i = 1; i <= 100; ++i) writer->request(numberedRequest(i));
        while (!writer->error()) std::this_thread::yield();
        QVERIFY(writer->error()->code == ErrorCode::Rejected);
        QVERIFY(names(*writer->error(), "another program is writing to " + path));
        QCOMPARE(raw.query("COMMIT"), QString());
        QVERIFY(writer->end(SessionState::Completed).ok());
        QCOMPARE(store->load(writer->id())->requests.size(), std::size_t{100});
        QCOMPARE(store->statistics().queueDropped, std::uint64_t{0});
    }

    void readOnlyFolder() {
        const auto folder = m_folder.filePath(QStringLiteral("readonly")).toStdString();
        std::filesystem::create_directory(folder);
        const auto path = folder + "/s.sqlite";
        {
            auto store = std::move(*SessionStore::open({.path = path}));
            QVERIFY(store->insert(fixtureChat()).ok());
        }
        ::chmod(m_folder.path().toStdString().c_str(), 0755);
        ::chmod(path.c_str(), 0444);
        ::chmod(folder.c_str(), 0555);
        const auto said = runHelper("read-and-write", path);
        const auto absent = runHelper("read-and-write", folder + "/absent.sqlite");
        ::chmod(folder.c_str(), 0755);
        if (said.exitCode == 2) QSKIP("read-only folder: this user's rights cannot be dropped");
        QCOMPARE(said.exitCode, 1);
        QCOMPARE(said.lines.size(), 3);
        QCOMPARE(said.lines[0], QStringLiteral("listed 1"));
        QCOMPARE(said.lines[1], QStringLiteral("loaded 2"));
        QVERIFY2(said.lines[2].startsWith(QStringLiteral("error 6 cannot write ")), qPrintable(said.lines[2]));
        QVERIFY(said.lines[2].contains(QString::fromStdString(path)));
        QCOMPARE(absent.exitCode, 1);
        QVERIFY2(absent.lines.value(0).contains(QStringLiteral("cannot write ")), qPrintable(absent.lines.join(u'\n')));
        QCOMPARE(RawDatabase(path).query("PRAGMA integrity_check"), QStringLiteral("ok"));
    }

    void filesMayNotGrow() {
        const auto path = freshPath();
        const auto said = runHelper({"fill", QString::fromStdString(path), QString::number(400 * 1024)});
        QVERIFY2(said.exitCode == 0, qPrintable(said.lines.join(u'\n')));
        QCOMPARE(said.lines.size(), 3);
        QVERIFY2(said.lines[0].startsWith(QStringLiteral("refused the disk is full: ") + QString::fromStdString(path)),
                 qPrintable(said.lines[0]));
        QCOMPARE(said.lines[1], QStringLiteral("readable"));
        const auto words = said.lines[2].split(u' ');
        QCOMPARE(words.value(0), QStringLiteral("written"));
        QCOMPARE(words.value(3), QStringLiteral("0"));  // dropped
        const auto written = words.value(1).toLongLong();

        auto store = std::move(*SessionStore::open({.path = path}));
        const auto loaded = store->load(store->list()->front().id);
        QVERIFY(loaded->header.state == SessionState::Completed);
        QCOMPARE(static_cast<qint64>(loaded->requests.size()), written);
        for (std::size_t i = 0; i < loaded->requests.size(); ++i) {
            QVERIFY(loaded->requests[i] == numberedRequest(static_cast<std::int64_t>(i) + 1));
        }
        QCOMPARE(RawDatabase(path).query("PRAGMA integrity_check"), QStringLiteral("ok"));
    }

    void diskIsFull() {
        const auto folder = mountTmpfs();
        if (folder.isEmpty()) QSKIP("full disk: this user may not mount a tmpfs");
        const auto path = folder.toStdString() + "/s.sqlite";
        const auto said = runHelper("fill-and-end", path);
        bool whole = false, interrupted = false;
        std::size_t kept = 0;
        {
            auto store = SessionStore::open({.path = path});
            if (store.ok()) {
                const auto loaded = (*store)->load((*store)->list()->front().id);
                kept = loaded.ok() ? loaded->requests.size() : 0;
                interrupted = loaded.ok() && loaded->header.state == SessionState::Interrupted;
            }
        }
        whole = RawDatabase(path).query("PRAGMA integrity_check") == u"ok";
        ::umount2(folder.toStdString().c_str(), MNT_DETACH);
        QCOMPARE(said.exitCode, 1);
        QVERIFY2(said.lines.value(0).startsWith(QStringLiteral("refused the disk is full: ")),
                 qPrintable(said.lines.join(u'\n')));
        QVERIFY2(said.lines.value(1).startsWith(QStringLiteral("error 6 the disk is full: ")),
                 qPrintable(said.lines.join(u'\n')));
        QVERIFY(whole);
        QVERIFY(kept > 0);
        // Marked only where a page was left to write it.
        if (!interrupted) qWarning("the session still reads Running: no space to mark it");
    }
};

FIRSTTOKEN_TEST_CLASS(TestStoreFaults);

}  // namespace firsttoken::tests

#include "test_store_faults.moc"
