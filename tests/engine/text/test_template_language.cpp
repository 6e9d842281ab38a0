#include <QFile>
#include <QProcess>
#include <nlohmann/json.hpp>

#include "engine/text.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

/// The template language against Python's jinja2, construct by construct.
class TestTemplateLanguage : public QObject {
    Q_OBJECT
private slots:
    void sameAsJinja2();
};

static const std::string folder = FIRSTTOKEN_SOURCE_DIR "/tests/engine/text/";

void TestTemplateLanguage::sameAsJinja2() {
    QProcess probe;
    probe.start("/usr/bin/python3", {"-c", "import jinja2"});
    if (!probe.waitForFinished(-1) || probe.exitStatus() != QProcess::NormalExit || probe.exitCode() != 0) {
        QSKIP("python3-jinja2 is absent");
    }
    QFile file(QString::fromStdString(folder + "template_cases.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const auto cases = nlohmann::ordered_json::parse(file.readAll().toStdString());
    const std::string given = cases["given"].dump();

    QProcess python;
    python.start("/usr/bin/python3", {QString::fromStdString(folder + "render_with_jinja2.py"), file.fileName()});
    QVERIFY(python.waitForFinished(-1));
    QCOMPARE(python.exitCode(), 0);
    int different = 0;
    for (const auto& entry : cases["templates"]) {
        const auto source = entry.get<std::string>();
        const auto expected = nlohmann::json::parse(python.readLine().toStdString());
        const auto pieces = renderTemplate(source, given, "2026-11-29");
        std::string text;
        if (pieces.ok()) {
            for (const RenderedPiece& piece : *pieces) text += piece.text;
        }
        const bool same = expected.contains("text") ? pieces.ok() && text == expected["text"].get<std::string>()
                                                    : !pieces.ok() && pieces.error().code == ErrorCode::BadInput;
        if (same) continue;
        ++different;
        qWarning("%s\n  python: %s\n  ours:   %s", source.c_str(), expected.dump().c_str(),
                 pieces.ok() ? nlohmann::json(text).dump().c_str() : pieces.error().message.c_str());
    }
    QCOMPARE(different, 0);
}

FIRSTTOKEN_TEST_CLASS(TestTemplateLanguage);
#include "test_template_language.moc"
