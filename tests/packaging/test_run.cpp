#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/packaging/script_run.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

/// ./run in a small tree of its own, with a cmake and a ninja that only pretend: what it calls, prints and returns.
class TestRun : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
        const QDir root(m_folder->path());
        QVERIFY(root.mkpath("tree/packaging") && root.mkpath("tools") && root.mkpath("elsewhere"));
        for (const char* script : {"run", "packaging/build.sh"}) {
            QVERIFY(QFile::copy(QStringLiteral(FIRSTTOKEN_SOURCE_DIR "/") + script, tree(script)));
        }
        tool("tree/packaging/setup.sh", "echo \"setup $*\" >>\"$FAKE/calls\"; [ ! -f \"$FAKE/no-packages\" ]");
        tool("tools/cmake",
             "echo \"cmake $*\" >>\"$FAKE/calls\"; echo configuring; mkdir -p build/release; touch "
             "build/release/build.ninja\n"
             "echo \"CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd)\" >build/release/CMakeCache.txt");
        // ninja -C FOLDER …: with -n it says whether "dirty" is there; without, it builds the program.
        tool("tools/ninja",
             "folder=$2; shift 2\n"
             "[ -f \"$folder/build.ninja\" ] || { echo 'ninja: error: no build.ninja'; exit 1; }\n"
             "case \"$*\" in *-n*) [ -f \"$FAKE/dirty\" ] && echo '[1/1] CXX' || echo 'ninja: no work to do.'; exit 0 "
             ";; esac\n"
             "echo \"ninja $*\" >>\"$FAKE/calls\"; echo compiling\n"
             "[ ! -f \"$FAKE/broken\" ] || { echo 'main.cpp:1: error: broken'; exit 1; }\n"
             "mkdir -p \"$folder/app\"; cp \"$FAKE/program\" \"$folder/app/firsttoken-cli\"; rm -f \"$FAKE/dirty\"");
        tool("program", "echo \"$PWD: $*\"; [ \"$1\" != fail ] || exit 7");
    }

    void buildsThenBecomesTheProgram() {
        const auto first = run({"cli", "chat", "--prompt", "two words"});
        QCOMPARE(first.status, 0);
        QCOMPARE(first.output, elsewhere() + ": chat --prompt two words\n");
        QCOMPARE(calls(), QByteArray("setup core\ncmake --preset release --fresh\nninja --quiet firsttoken-cli\n"));
        QVERIFY(first.messages.contains("Building"));
        QVERIFY(!first.messages.contains("compiling"));  // no terminal: no progress
    }

    void saysAndCallsNothingWhereNothingIsToBeDone() {
        run({"cli"});
        forgetCalls();
        const auto again = run({"cli", "models"});
        QCOMPARE(again.output, elsewhere() + ": models\n");
        QCOMPARE(again.messages, QByteArray());
        QCOMPARE(calls(), QByteArray());
    }

    void exitIsTheProgramsOwn() {
        run({"cli"});
        QCOMPARE(run({"cli", "fail"}).status, 7);
    }

    void aChangeIsBuiltWithoutConfiguring() {
        run({"cli"});
        forgetCalls();
        file("dirty", "");
        QCOMPARE(run({"cli"}).status, 0);
        QCOMPARE(calls(), QByteArray("setup core\nninja --quiet firsttoken-cli\n"));
    }

    void aFailedBuildIsShownOnStandardError() {
        file("broken", "");
        const auto failed = run({"cli", "models"});
        QCOMPARE(failed.status, 1);
        QCOMPARE(failed.output, QByteArray());
        QVERIFY(failed.messages.contains("main.cpp:1: error: broken"));
        QFile::remove(m_folder->filePath("broken"));
        QCOMPARE(run({"cli", "models"}).status, 0);
    }

    void missingPackagesEndIt() {
        file("no-packages", "");
        const auto refused = run({"--yes", "cli"});
        QCOMPARE(refused.status, 1);
        QCOMPARE(refused.output, QByteArray());
        QCOMPARE(calls(), QByteArray("setup --yes core\n"));
    }

    void anInterruptedConfigurationStartsAgain() {
        run({"cli"});
        QVERIFY(QFile::remove(tree("build/release/build.ninja")));
        forgetCalls();
        QCOMPARE(run({"cli"}).status, 0);
        QVERIFY(calls().contains("cmake --preset release --fresh\n"));
    }

    void aMovedTreeIsConfiguredAgain() {
        run({"cli"});
        QVERIFY(QDir(m_folder->path()).rename("tree", "moved"));
        forgetCalls();
        QCOMPARE(runIn("moved/run", {"cli"}).status, 0);
        QVERIFY(calls().contains("cmake --preset release --fresh\n"));
    }

    void aRelativeLinkFindsTheTree() {
        QVERIFY(QFile::link("../tree/run", m_folder->filePath("elsewhere/link")));
        const auto linked = runIn("elsewhere/link", {"cli", "x"});
        QCOMPARE(linked.status, 0);
        QCOMPARE(linked.output, elsewhere() + ": x\n");
    }

    void usageErrors_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("unknown command") << QStringList{"dance"};
        QTest::newRow("unknown option") << QStringList{"--fast"};
        QTest::newRow("no window yet") << QStringList{"screenshots", "pictures"};
    }
    void usageErrors() {
        QFETCH(QStringList, arguments);
        const auto refused = run(arguments);
        QCOMPARE(refused.status, 2);
        QCOMPARE(refused.output, QByteArray());
        QVERIFY(!refused.messages.isEmpty());
        QCOMPARE(calls(), QByteArray());
    }

    void helpNeedsNoBuild() {
        const auto help = run({"--help"});
        QCOMPARE(help.status, 0);
        QVERIFY(help.output.contains("./run cli"));
        QCOMPARE(calls(), QByteArray());
    }

private:
    QString tree(const QString& path) const { return m_folder->filePath("tree/" + path); }
    QByteArray elsewhere() const { return QFileInfo(m_folder->filePath("elsewhere")).canonicalFilePath().toUtf8(); }
    void tool(const char* path, const QByteArray& body) {
        writeFile(m_folder->filePath(path), "#!/bin/sh\n" + body + '\n', true);
    }
    void file(const char* name, const QByteArray& text) { writeFile(m_folder->filePath(name), text); }
    QByteArray calls() const {
        QFile notes(m_folder->filePath("calls"));
        return notes.open(QIODevice::ReadOnly) ? notes.readAll() : QByteArray();
    }
    void forgetCalls() { QFile::remove(m_folder->filePath("calls")); }
    ScriptResult run(const QStringList& arguments) const { return runIn("tree/run", arguments); }
    ScriptResult runIn(const char* script, const QStringList& arguments) const {
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert("PATH", m_folder->filePath("tools") + u':' + environment.value("PATH"));
        environment.insert("FAKE", m_folder->path());
        return runProgram(m_folder->filePath(script), arguments, environment, m_folder->filePath("elsewhere"));
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

FIRSTTOKEN_TEST_CLASS(TestRun);

}  // namespace firsttoken::tests

#include "test_run.moc"
