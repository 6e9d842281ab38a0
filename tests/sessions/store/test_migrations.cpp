#include <QTemporaryDir>
#include <QtTest>
#include <array>
#include <filesystem>

#include "sessions/session_store.h"
#include "sessions/store/migrations.h"
#include "tests/sessions/store/raw_database.h"
#include "tests/sessions/store/sample_sessions.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

using namespace sessions;
using engine::ErrorCode;

namespace {

constexpr std::array kSteps = {
    Migration{1, "CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT);"},
    Migration{2, "CREATE TABLE b (a INTEGER REFERENCES a(id)); INSERT INTO a(text) VALUES ('two');"},
    Migration{3, "ALTER TABLE a ADD COLUMN more INTEGER; UPDATE a SET more = 3;"},
};
constexpr std::array kBrokenThird = {kSteps[0], kSteps[1],
                                     Migration{3, "CREATE TABLE c (x); INSERT INTO nowhere VALUES (1);"}};
constexpr std::array kOrphans = {kSteps[0], kSteps[1], Migration{3, "INSERT INTO b VALUES (99);"}};

/// Names and text of everything in the schema, so that two schemas can be compared.
QString schemaOf(const std::string& path) {
    return RawDatabase(path).query("SELECT name || ': ' || coalesce(sql, '') FROM sqlite_master ORDER BY name");
}

}  // namespace

class TestMigrations : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_count = 0;

    std::string freshPath() { return m_folder.filePath(QStringLiteral("m%1.sqlite").arg(++m_count)).toStdString(); }
    static MigrationResult run(const std::string& path, std::span<const Migration> steps) {
        auto database = Database::open(path, Database::Access::Write);
        if (!database) qFatal("%s", database.error().message.c_str());
        return migrate(*database, steps);
    }

private slots:
    void created() {
        const auto path = freshPath();
        const auto result = run(path, kSteps);
        QVERIFY(result.outcome == MigrationOutcome::Created);
        QCOMPARE(result.from, std::int64_t{0});
        QCOMPARE(result.to, std::int64_t{3});
        QVERIFY(!result.error);
        RawDatabase raw(path);
        QCOMPARE(raw.query("SELECT more FROM a"), QStringLiteral("3"));
        QCOMPARE(raw.query("PRAGMA application_id"), QString::number(kApplicationId));
    }

    void current() {
        const auto path = freshPath();
        run(path, kSteps);
        const auto result = run(path, kSteps);
        QVERIFY(result.outcome == MigrationOutcome::Current);
        QCOMPARE(RawDatabase(path).query("SELECT count(*) FROM a"), QStringLiteral("1"));
    }

    void migratedFromEveryVersion() {
        for (std::size_t from = 1; from < kSteps.size(); ++from) {
            const auto path = freshPath();
            run(path, std::span(kSteps).first(from));
            const auto result = run(path, kSteps);
            QVERIFY(result.outcome == MigrationOutcome::Migrated);
            QCOMPARE(result.from, static_cast<std::int64_t>(from));
            QCOMPARE(RawDatabase(path).query("SELECT text || more FROM a"), QStringLiteral("two3"));
        }
    }

    void newerIsUntouched() {
        const auto path = freshPath();
        run(path, kSteps);
        const auto before = schemaOf(path);
        const auto result = run(path, std::span(kSteps).first(2));
        QVERIFY(result.outcome == MigrationOutcome::Newer);
        QVERIFY(result.error && result.error->code == ErrorCode::Unsupported);
        QVERIFY(result.error->message.find("newer version") != std::string::npos);
        QCOMPARE(schemaOf(path), before);
    }

    void foreignIsUntouched() {
        const auto path = freshPath();
        RawDatabase(path).query("CREATE TABLE theirs (x); PRAGMA user_version = 1;");
        const auto before = schemaOf(path);
        const auto result = run(path, kSteps);
        QVERIFY(result.outcome == MigrationOutcome::Foreign);
        QVERIFY(result.error && result.error->code == ErrorCode::Unsupported);
        QCOMPARE(schemaOf(path), before);
        QVERIFY(!SessionStore::open({.path = path}).ok());
        QCOMPARE(schemaOf(path), before);
        QCOMPARE(RawDatabase(path).query("PRAGMA journal_mode"), QStringLiteral("delete"));
    }

    void failedKeepsTheStepsBefore() {
        const auto path = freshPath();
        const auto result = run(path, kBrokenThird);
        QVERIFY(result.outcome == MigrationOutcome::Failed);
        QCOMPARE(result.to, std::int64_t{2});
        QVERIFY(result.error.has_value());
        RawDatabase raw(path);
        QCOMPARE(raw.query("PRAGMA user_version"), QStringLiteral("2"));
        QCOMPARE(raw.query("SELECT count(*) FROM sqlite_master WHERE name = 'c'"), QStringLiteral("0"));
        QCOMPARE(raw.query("SELECT text FROM a"), QStringLiteral("two"));
    }

    void failedForOrphans() {
        const auto path = freshPath();
        const auto result = run(path, kOrphans);
        QVERIFY(result.outcome == MigrationOutcome::Failed);
        QVERIFY(result.error->message.find("belong to no session") != std::string::npos);
        QCOMPARE(RawDatabase(path).query("SELECT count(*) FROM b"), QStringLiteral("0"));
    }

    void failedForNoDatabase() {
        const auto path = freshPath();
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray(8192, 'x'));
        file.close();
        const auto result = run(path, kSteps);
        QVERIFY(result.outcome == MigrationOutcome::Failed);
        QVERIFY(result.error->code == ErrorCode::Io);
    }

    void versionsAscendWithoutGaps() {
        std::int64_t version = 0;
        for (const auto& step : migrations()) QCOMPARE(step.version, ++version);
        QVERIFY(version >= 1);
    }

    // tests/fixtures/sessions_schema_N.sqlite was written by the program when its newest schema was N:
    // store_helper make-fixture FILE.
    void everyVersionEverWrittenOpens() {
        const auto fresh = freshPath();
        QVERIFY(SessionStore::open({.path = fresh}).ok());
        for (const auto& step : migrations()) {
            const auto from = fixture("sessions_schema_" + std::to_string(step.version) + ".sqlite");
            QVERIFY2(std::filesystem::exists(from), from.c_str());
            const auto path = freshPath();
            std::filesystem::copy_file(from, path);
            {
                auto store = SessionStore::open({.path = path});
                QVERIFY2(store.ok(), store.ok() ? "" : store.error().message.c_str());
                auto chat = fixtureChat();
                chat.header.id = 1;
                QVERIFY(*(*store)->load(1) == chat);
                auto load = fixtureLoad();
                load.header.id = 2;
                QVERIFY(*(*store)->load(2) == load);
                QCOMPARE((*store)->list("naive")->size(), std::size_t{1});
                const auto third = (*store)->insert(chat);
                QVERIFY(third.ok());
                QCOMPARE(*third, std::int64_t{3});
            }
            // An edit of an old step would show here.
            QCOMPARE(schemaOf(path), schemaOf(fresh));
            QCOMPARE(RawDatabase(path).query("PRAGMA integrity_check"), QStringLiteral("ok"));
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestMigrations);

}  // namespace firsttoken::tests

#include "test_migrations.moc"
