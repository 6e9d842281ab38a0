#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <algorithm>
#include <limits>

#include "sessions/model_fit.h"
#include "sessions/model_library.h"
#include "sessions/models/fetch_records.h"
#include "sessions/models/files.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::tests;
using engine::ErrorCode;

namespace {

void write(const QString& path, const QByteArray& bytes) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
}

sessions::CatalogueEntry entry(const std::string& name, const std::string& file, sessions::ModelKind kind) {
    sessions::CatalogueEntry made;
    made.name = name;
    made.title = name;
    made.file = file;
    made.kind = kind;
    made.licence = {"A licence", "https://example.org/licence"};
    made.source = sessions::HttpsSource{"https://example.org/" + file};
    return made;
}

}  // namespace

class TestLibrary : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;

    void copy(const char* name, const QString& as) {
        QVERIFY(QFile::copy(QString::fromStdString(fixture(name)), m_folder->filePath(as)));
    }
    sessions::ModelLibrary library(std::vector<sessions::CatalogueEntry> catalogue = {}) {
        return {{m_folder->path().toStdString()}, std::move(catalogue)};
    }

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void brokenFilesAreListedWithTheirFault() {
        copy("llama.gguf", "good.gguf");
        write(m_folder->filePath("empty.gguf"), {});
        write(m_folder->filePath("foreign.gguf"), "PK\x03\x04 not a model");
        write(m_folder->filePath("notes.txt"), "not listed");
        QVERIFY(QFile::link(m_folder->filePath("nowhere"), m_folder->filePath("dangling.gguf")));
        const auto models = library().list();
        QCOMPARE(models.size(), std::size_t{4});
        for (const auto& model : models) {
            QCOMPARE(model.fault.empty(), model.name == "good");
            QCOMPARE(model.usable(), model.name == "good");
        }
        const auto& good = models[3];
        QCOMPARE(good.name, std::string("good"));
        QCOMPARE(good.info->architecture, std::string("llama"));
        QVERIFY(good.fit->needsBytes() > good.info->weightBytes);
    }

    void foldersBelowAreReadButHiddenOnesAreNot() {
        QDir(m_folder->path()).mkpath("publisher/model");
        QDir(m_folder->path()).mkpath(".parts/model");
        copy("llama.gguf", "publisher/model/inner.gguf");
        copy("llama.gguf", ".parts/model/half.gguf");
        const auto models = library().list();
        QCOMPARE(models.size(), std::size_t{1});
        QCOMPARE(models.front().name, std::string("inner"));
    }

    void aMissingFolderIsAnEmptyLibrary() {
        const sessions::ModelLibrary none({m_folder->filePath("absent").toStdString()}, {});
        QVERIFY(none.list().empty());
        const auto model = none.defaultModel();
        QVERIFY(!model.ok());
        QVERIFY(model.error().code == ErrorCode::NotFound);
    }

    void theCatalogueNamesAndKindsItsFiles() {
        copy("gemma3.gguf", "known-q4.gguf");
        const auto shelf = library({entry("known", "known-q4.gguf", sessions::ModelKind::Base)});
        const auto models = shelf.list();
        QCOMPARE(models.size(), std::size_t{1});
        QCOMPARE(models.front().name, std::string("known"));
        QVERIFY(models.front().kind == sessions::ModelKind::Base);
        QVERIFY(models.front().licence.has_value());
        QVERIFY(!models.front().verified.has_value());
        QVERIFY(sessions::recordFetched(shelf.ownFolder(), shelf.catalogue().front(), 5, "abc").ok());
        QCOMPARE(shelf.list().front().verified, std::optional<bool>(false));
    }

    void namesAndPathsResolve() {
        copy("gemma3.gguf", "known-q4.gguf");
        copy("llama.gguf", "Other.gguf");
        const auto shelf = library({entry("known", "known-q4.gguf", sessions::ModelKind::Base)});
        const auto path = [&](const char* name) { return m_folder->filePath(name).toStdString(); };
        QCOMPARE(*shelf.resolve("known"), path("known-q4.gguf"));
        QCOMPARE(*shelf.resolve("known-q4"), path("known-q4.gguf"));
        QCOMPARE(*shelf.resolve("other"), path("Other.gguf"));
        QCOMPARE(*shelf.resolve(path("Other.gguf")), path("Other.gguf"));
        for (const auto* missing : {"nothing", "nothing.gguf", "no/such/file", ""}) {
            const auto result = shelf.resolve(missing);
            QVERIFY(!result.ok());
            QVERIFY(result.error().code == ErrorCode::NotFound);
            QVERIFY(result.error().message.find(missing) != std::string::npos);
        }
        QVERIFY(shelf.resolve(m_folder->path().toStdString()).error().code == ErrorCode::BadInput);
    }

    void theDefaultIsAChatModelInTheCataloguesOrder() {
        copy("llama.gguf", "a-base.gguf");
        copy("gemma3.gguf", "z-chat.gguf");
        copy("qwen2.gguf", "y-chat.gguf");
        write(m_folder->filePath("first-chat.gguf"), "broken");
        using sessions::ModelKind;
        const auto shelf =
            library({entry("first", "first-chat.gguf", ModelKind::Chat), entry("z", "z-chat.gguf", ModelKind::Chat),
                     entry("y", "y-chat.gguf", ModelKind::Chat), entry("a", "a-base.gguf", ModelKind::Base)});
        QCOMPARE(*shelf.defaultModel(), m_folder->filePath("z-chat.gguf").toStdString());
        QFile::remove(m_folder->filePath("z-chat.gguf"));
        QFile::remove(m_folder->filePath("y-chat.gguf"));
        QCOMPARE(*shelf.defaultModel(), m_folder->filePath("a-base.gguf").toStdString());
    }

    void aLyingFileDoesNotFit() {
        engine::ModelInfo info;
        info.weightBytes = std::numeric_limits<std::uint64_t>::max();
        info.kvBytesPerToken = std::numeric_limits<std::uint64_t>::max();
        info.contextLength = std::numeric_limits<std::int64_t>::max();
        info.embeddingLength = std::numeric_limits<std::int64_t>::max();
        const auto fit = sessions::memoryFit(info, 1ULL << 40);
        QCOMPARE(fit.fits(), std::optional<bool>(false));
        QCOMPARE(sessions::memoryFit(info, std::nullopt).fits(), std::optional<bool>());
        info = {};
        info.contextLength = -5;
        QCOMPARE(sessions::memoryFit(info, 1).fits(), std::optional<bool>(true));
    }

    void consentKeepsItsDateAndDamageIsNotOverwritten() {
        const auto folder = m_folder->path().toStdString();
        const auto known = entry("known", "known.gguf", sessions::ModelKind::Chat);
        QVERIFY(sessions::recordConsent(folder, known).ok());
        auto records = sessions::readFetchRecords(folder);
        QVERIFY(records.ok());
        const auto first = records->at("known");
        QVERIFY(QDateTime::fromString(QString::fromStdString(first.acceptedAt), Qt::ISODate).isValid());
        QVERIFY(sessions::recordFetched(folder, known, 7, "aa").ok());
        QVERIFY(sessions::recordConsent(folder, known).ok());
        records = sessions::readFetchRecords(folder);
        QCOMPARE(records->at("known").acceptedAt, first.acceptedAt);
        QCOMPARE(records->at("known").sha256, std::optional<std::string>("aa"));
        write(m_folder->filePath("licences.json"), "{broken");
        QVERIFY(!sessions::recordConsent(folder, known).ok());
        QCOMPARE(*sessions::readWholeFile(folder + "/licences.json", 100), std::string("{broken"));
    }

    void theFolderComesFromTheEnvironment() {
        const auto models = qgetenv("FIRSTTOKEN_MODELS");
        const auto data = qgetenv("XDG_DATA_HOME");
        qunsetenv("FIRSTTOKEN_MODELS");
        qputenv("XDG_DATA_HOME", "/data");
        QCOMPARE(*sessions::defaultModelsFolder(), std::string("/data/firsttoken/models"));
        qputenv("XDG_DATA_HOME", "relative");
        QVERIFY(sessions::defaultModelsFolder()->ends_with("/.local/share/firsttoken/models"));
        qputenv("FIRSTTOKEN_MODELS", "/mine");
        QCOMPARE(*sessions::defaultModelsFolder(), std::string("/mine"));
        models.isEmpty() ? qunsetenv("FIRSTTOKEN_MODELS") : qputenv("FIRSTTOKEN_MODELS", models);
        data.isEmpty() ? qunsetenv("XDG_DATA_HOME") : qputenv("XDG_DATA_HOME", data);
    }

    void filesAreReadWholeOrRefused() {
        const auto path = m_folder->filePath("f").toStdString();
        QVERIFY(sessions::writeWholeFile(path, std::string("a\0b", 3)).ok());
        QCOMPARE(*sessions::readWholeFile(path, 3), std::string("a\0b", 3));
        QVERIFY(sessions::readWholeFile(path, 2).error().code == ErrorCode::BadInput);
        QVERIFY(sessions::readWholeFile(m_folder->path().toStdString(), 9).error().code == ErrorCode::BadInput);
        QVERIFY(sessions::readWholeFile(path + "x", 9).error().code == ErrorCode::NotFound);
        QVERIFY(!sessions::writeWholeFile(path + "/below", "x").ok());
        QCOMPARE(QDir(m_folder->path()).entryList(QDir::Files).size(), 1);
    }
};

FIRSTTOKEN_TEST_CLASS(TestLibrary);
#include "test_library.moc"
