#include <QTemporaryDir>
#include <QtTest>

#include "tests/packaging/script_run.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

/// packaging/setup.sh against a dpkg-query, apt-get, id and sudo of the test's own: nothing is installed.
class TestSetup : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
        // dpkg-query knows the packages in "installed"; apt-get notes each call, and installing fails if "offline" is.
        tool("dpkg-query", "cat \"$FAKE/installed\"; [ ! -f \"$FAKE/partly\" ]");
        tool("apt-get",
             "echo \"$*\" >>\"$FAKE/calls\"\n"
             "case \"$*\" in *' install '*) [ ! -f \"$FAKE/offline\" ] ;; *) true ;; esac");
        tool("id", "cat \"$FAKE/user\"");
        file("user", "0\n");
        m_core = setup({"--list", "core"}).output.split('\n');
        m_core.removeAll(QByteArray());
        QVERIFY(m_core.contains("cmake"));
    }

    void allThereTouchesNothing() {
        installed(m_core);
        const auto done = setup({"core"});
        QCOMPARE(done.status, 0);
        QCOMPARE(done.output + done.messages, QByteArray());
        QCOMPARE(calls(), QByteArray());
    }

    void installsOnlyWhatIsMissing() {
        auto some = m_core;
        some.removeAll("ninja-build");
        some.removeAll("libfmt-dev");
        installed(some);
        file("partly", "");
        const auto done = setup({"core"});
        QCOMPARE(done.status, 0);
        QCOMPARE(done.output, QByteArray());
        QVERIFY(done.messages.contains("Missing Debian packages: ninja-build libfmt-dev\n"));
        const auto lines = calls().split('\n');
        QCOMPARE(lines.size(), 3);
        QVERIFY(lines[0].endsWith(" update"));
        QVERIFY(lines[1].endsWith(" install --no-install-recommends ninja-build libfmt-dev"));
    }

    void aRemovedPackageIsMissing() {
        auto some = m_core;
        some.removeAll("cmake");
        installed(some, "rc  cmake\n");  // removed, its configuration kept
        QCOMPARE(setup({"core"}).status, 0);
        QVERIFY(calls().contains("install --no-install-recommends cmake\n"));
    }

    void saysWhyAptFailed() {
        installed({});
        file("offline", "");
        const auto failed = setup({"core"});
        QCOMPARE(failed.status, 1);
        QVERIFY(failed.messages.contains("could not install"));
        QVERIFY(failed.messages.contains("Check the network"));
    }

    void asksNobodyWhoIsNotThere() {
        installed({});
        file("user", "1000\n");
        tool("sudo", "echo sudo >>\"$FAKE/calls\"; exec \"$@\"");
        const auto refused = setup({"core"});
        QCOMPARE(refused.status, 1);
        QVERIFY(refused.messages.contains("--yes"));
        QCOMPARE(calls(), QByteArray());

        QCOMPARE(setup({"--yes", "core"}).status, 0);
        QVERIFY(calls().startsWith("sudo\n"));
    }

    void saysWhatRootWouldRunWithoutSudo() {
        auto some = m_core;
        some.removeAll("cmake");
        installed(some);
        file("user", "1000\n");
        const auto refused = setup({"--yes", "core"});
        QCOMPARE(refused.status, 1);
        QVERIFY(refused.messages.contains("apt-get install cmake"));
        QCOMPARE(calls(), QByteArray());
    }

    void otherSystemsAreTold() {
        QFile::remove(m_folder->filePath("dpkg-query"));
        const auto told = setup({"core"});
        QCOMPARE(told.status, 0);
        QVERIFY(told.messages.contains("no Debian system"));
    }

    /// What CMake looks for must be installed by one of the sets: a fresh machine meets it first.
    void everyLibraryHasItsPackage() {
        const QMap<QString, QByteArray> packageOf = {
            {"CLI11", "libcli11-dev"},     {"CURL", "libcurl4-openssl-dev"},
            {"OpenSSL", "libssl-dev"},     {"Qt6", "qt6-base-dev"},
            {"SQLite3", "libsqlite3-dev"}, {"Threads", "g++"},
            {"fmt", "libfmt-dev"},         {"nlohmann_json", "nlohmann-json3-dev"},
            {"xxhash", "libxxhash-dev"},   {"yaml-cpp", "libyaml-cpp-dev"},
            {"zip", "libzip-dev"},
        };
        const auto everything = setup({"--list", "core", "test"}).output.split('\n');
        static const QRegularExpression finds(
            QStringLiteral(R"(^[^#\n]*find_(?:package|library)\((?:\w+ )??([\w-]+) REQUIRED)"),
            QRegularExpression::MultilineOption);
        int found = 0;
        for (const char* folder : {"app", "cmake", "engine", "sessions", "tests", "ui"}) {
            QDirIterator walk(QStringLiteral(FIRSTTOKEN_SOURCE_DIR "/") + folder, {"CMakeLists.txt", "*.cmake"},
                              QDir::Files, QDirIterator::Subdirectories);
            while (walk.hasNext()) {
                QFile list(walk.next());
                QVERIFY(list.open(QIODevice::ReadOnly));
                auto matches = finds.globalMatch(QString::fromUtf8(list.readAll()));
                for (; matches.hasNext(); ++found) {
                    const QString name = matches.next().captured(1);
                    const QString message = list.fileName() + " looks for " + name;
                    QVERIFY2(packageOf.contains(name), qPrintable(message + ", of no known package"));
                    QVERIFY2(everything.contains(packageOf.value(name)), qPrintable(message + ", not installed"));
                }
            }
        }
        QVERIFY2(found > 5, "the lists are not where the test looks for them");
    }

    void unknownSetIsUsage() { QCOMPARE(setup({"everything"}).status, 2); }

private:
    void tool(const char* name, const QByteArray& body) {
        writeFile(m_folder->filePath(name), "#!/bin/sh\n" + body + '\n', true);
    }
    void file(const char* name, const QByteArray& text) { writeFile(m_folder->filePath(name), text); }
    void installed(const QByteArrayList& packages, const QByteArray& further = {}) {
        QByteArray lines;
        for (const auto& package : packages) lines += "ii  " + package + '\n';
        file("installed", lines + further);
    }
    QByteArray calls() const {
        QFile notes(m_folder->filePath("calls"));
        return notes.open(QIODevice::ReadOnly) ? notes.readAll() : QByteArray();
    }
    ScriptResult setup(const QStringList& arguments) const {
        // Only the fakes and the plain tools that the script itself needs: no apt-get, sudo or dpkg of the machine.
        for (const char* plain : {"bash", "env", "sed", "grep", "cat"}) {
            QFile::link(QStandardPaths::findExecutable(plain), m_folder->filePath(plain));
        }
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert("PATH", m_folder->path());
        environment.insert("FAKE", m_folder->path());
        return runScript("packaging/setup.sh", arguments, environment);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    QByteArrayList m_core;
};

FIRSTTOKEN_TEST_CLASS(TestSetup);

}  // namespace firsttoken::tests

#include "test_setup.moc"
