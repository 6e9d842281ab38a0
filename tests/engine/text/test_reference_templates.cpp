#include <QDir>
#include <QFile>
#include <nlohmann/json.hpp>

#include "engine/text.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using firsttoken::tests::sharedFolder;

/// The public chat templates of the reference folder, byte for byte.
class TestReferenceTemplates : public QObject {
    Q_OBJECT
private slots:
    void rendersAsExpected_data();
    void rendersAsExpected();
};

void TestReferenceTemplates::rendersAsExpected_data() {
    QTest::addColumn<QString>("path");
    const QDir folder(QString::fromStdString(sharedFolder() + "/data/chat"));
    for (const QString& name : folder.entryList({"*.jinja"})) {
        QTest::newRow(qPrintable(name)) << folder.filePath(name);
    }
    if (folder.entryList({"*.jinja"}).isEmpty()) QTest::newRow("none") << QString();
}

void TestReferenceTemplates::rendersAsExpected() {
    QFETCH(QString, path);
    if (sharedFolder().empty() || path.isEmpty()) QSKIP("the reference folder is absent");
    QFile source(path);
    QFile casesFile(path.chopped(6) + ".json");
    QVERIFY(source.open(QIODevice::ReadOnly) && casesFile.open(QIODevice::ReadOnly));
    const std::string templateText = source.readAll().toStdString();
    const auto cases = nlohmann::ordered_json::parse(casesFile.readAll().toStdString());
    QVERIFY(cases.size() >= 6);
    for (const auto& entry : cases) {
        const auto pieces = renderTemplate(templateText, entry["given"].dump(), "2026-11-29");
        const auto name = entry["case"].get<std::string>();
        if (entry.contains("error")) {
            QVERIFY2(!pieces.ok(), name.c_str());
            const auto expected = entry["error"].get<std::string>();
            QVERIFY2(pieces.error().message.find(expected) != std::string::npos, pieces.error().message.c_str());
            QVERIFY(pieces.error().line > 0);
            continue;
        }
        QVERIFY2(pieces.ok(), pieces.ok() ? "" : (name + ": " + pieces.error().message).c_str());
        std::string text;
        for (const RenderedPiece& piece : *pieces) text += piece.text;
        QVERIFY2(text == entry["expected"].get<std::string>(), (name + "\n" + text).c_str());
    }
}

FIRSTTOKEN_TEST_CLASS(TestReferenceTemplates);
#include "test_reference_templates.moc"
