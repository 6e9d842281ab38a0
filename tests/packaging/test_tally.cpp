#include <QTemporaryDir>
#include <QtTest>

#include "tests/packaging/script_run.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

/// tests/support/run_logged.sh and tally.sh: what ./check adds up.
class TestTally : public QObject {
    Q_OBJECT
private slots:
    void adds_data() {
        QTest::addColumn<QByteArray>("log");
        QTest::addColumn<QByteArray>("tally");
        const QByteArray head = "run test_a\n********* Start testing of TestA *********\nConfig: Using QtTest\n";
        const QByteArray good =
            head + "PASS   : TestA::one()\nTotals: 3 passed, 0 failed, 0 skipped, 0 blacklisted, 1ms\n";
        QTest::newRow("passed") << good + "exit 0\n" << QByteArray("3 0 0\n");
        QTest::newRow("two classes") << good + good + "exit 0\n" << QByteArray("6 0 0\n");
        QTest::newRow("skipped") << head + "SKIP   : TestA::real(row) no reference folder\n   Loc: [a.cpp(3)]\n" +
                                        "Totals: 2 passed, 0 failed, 1 skipped, 0 blacklisted, 1ms\nexit 0\n"
                                 << QByteArray("2 0 1\nskip TestA::real(row) no reference folder\n");
        QTest::newRow("failed") << head + "FAIL!  : TestA::sum() 1 is not 2\n" +
                                       "Totals: 2 passed, 1 failed, 0 skipped, 0 blacklisted, 1ms\nexit 1\n"
                                << QByteArray("2 1 0\nfail TestA::sum() 1 is not 2\n");
        QTest::newRow("crashed") << good + head + "exit 139\n"
                                 << QByteArray("3 1 0\nfail log: it ended before its totals, exit 139\n");
        QTest::newRow("crashed at the end") << good + "exit 139\n"
                                            << QByteArray("3 1 0\nfail log: it ended before its totals, exit 139\n");
        QTest::newRow("cut short") << head << QByteArray("0 1 0\nfail log: it was cut short (time-out?)\n");
        QTest::newRow("no test") << QByteArray("run test_a\nexit 0\n")
                                 << QByteArray("0 1 0\nfail log: it ran no test\n");
    }
    void adds() {
        QFETCH(QByteArray, log);
        QFETCH(QByteArray, tally);
        QTemporaryDir folder;
        writeFile(folder.filePath("log.log"), log);
        const auto one = run({folder.filePath("log.log")});
        QCOMPARE(one.status, 0);
        QCOMPARE(one.output, tally);
    }

    void addsSeveralLogs() {
        QTemporaryDir folder;
        const QByteArray start = "run x\n********* Start testing of T *********\n";
        writeFile(folder.filePath("a.log"),
                  start + "Totals: 3 passed, 0 failed, 1 skipped, 0 blacklisted, 1ms\nexit 0\n");
        writeFile(folder.filePath("b.log"), start);
        writeFile(folder.filePath("c.log"),
                  start + "Totals: 4 passed, 2 failed, 0 skipped, 0 blacklisted, 1ms\nexit 1\n");
        const auto all = run({folder.filePath("a.log"), folder.filePath("b.log"), folder.filePath("c.log")});
        QCOMPARE(all.output, QByteArray("7 3 1\nfail b: it was cut short (time-out?)\n"));
    }

    void logsKeepTheExitStatus() {
        QTemporaryDir folder;
        writeFile(folder.filePath("program"), "#!/bin/sh\necho seen; echo also >&2; exit 7\n", true);
        const QString log = folder.filePath("logs/program.log");
        const auto logged = runScript("tests/support/run_logged.sh", {log, folder.filePath("program")},
                                      QProcessEnvironment::systemEnvironment());
        QCOMPARE(logged.status, 7);
        QCOMPARE(logged.output, QByteArray("seen\nalso\n"));
        QFile file(log);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), "run " + folder.filePath("program").toUtf8() + "\nseen\nalso\nexit 7\n");
    }

private:
    static ScriptResult run(const QStringList& logs) {
        return runScript("tests/support/tally.sh", logs, QProcessEnvironment::systemEnvironment());
    }
};

FIRSTTOKEN_TEST_CLASS(TestTally);

}  // namespace firsttoken::tests

#include "test_tally.moc"
