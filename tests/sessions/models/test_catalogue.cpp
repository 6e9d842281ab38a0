#include <algorithm>

#include "sessions/model_catalogue.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using engine::ErrorCode;

namespace {

/// JSON with single quotes: moc does not survive the raw strings that the others would need.
std::string json(std::string text) {
    std::replace(text.begin(), text.end(), '\'', '"');
    return text;
}

const std::string entry =
    "{'name': 'a', 'title': 'A', 'kind': 'chat', 'architecture': 'llama', 'format': 'Q8_0', 'file': 'a.gguf', "
    "'bytes': null, 'sha256': null, 'licence': {'name': 'L', 'address': 'https://example.org/l'}, "
    "'source': {'kind': 'https', 'address': 'https://example.org/a.gguf'}}";
const std::string good = "{'version': 1, 'models': [" + entry + "]}";

/// The good catalogue with its first `from` replaced.
std::string with(const std::string& from, const std::string& to) {
    auto text = good;
    text.replace(text.find(from), from.size(), to);
    return json(text);
}

}  // namespace

class TestCatalogue : public QObject {
    Q_OBJECT

private slots:
    void theBuiltInOneIsWhole() {
        const auto entries = sessions::builtInCatalogue();
        QVERIFY2(entries.ok(), entries ? "" : entries.error().message.c_str());
        const auto find = [&](const char* name) {
            return std::find_if(entries->begin(), entries->end(),
                                [&](const auto& entry) { return entry.name == name; });
        };
        const auto gemma = find("gemma-3-270m");
        QVERIFY(gemma != entries->end());
        QCOMPARE(gemma->bytes, std::optional<std::uint64_t>(253113024));
        QCOMPARE(gemma->sha256,
                 std::optional<std::string>("a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"));
        QVERIFY(gemma->kind == sessions::ModelKind::Base);
        const auto& parts = std::get<sessions::PipSource>(gemma->source).parts;
        QCOMPARE(parts.size(), std::size_t{4});
        std::uint64_t bytes = 0;
        for (const auto& part : parts) bytes += part.bytes;
        QCOMPARE(bytes, *gemma->bytes);
        QVERIFY(find("qwen2.5-0.5b-instruct") != entries->end());
        QVERIFY(find("smollm2-360m-instruct") != entries->end());
        QVERIFY(find("smollm2-360m-instruct")->kind == sessions::ModelKind::Chat);
    }

    void unknownFactsStayUnknown() {
        const auto entries = sessions::parseCatalogue(json(good));
        QVERIFY(entries.ok());
        QVERIFY(!entries->front().bytes && !entries->front().sha256);
    }

    void faultsAreNamed_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("named");
        const auto row = [](const char* name, const std::string& text, const char* named) {
            QTest::newRow(name) << QString::fromStdString(text) << QString(named);
        };
        const std::string pip = "'kind': 'pip', 'parts': [{'package': 'p', 'version': '1', 'member': 'm', 'bytes': 1}]";
        const auto part = [&](std::string from, const std::string& to) {
            auto text = pip;
            text.replace(text.find(from), from.size(), to);
            return with("'kind': 'https'", text);
        };
        row("no JSON", "{", "JSON");
        row("a list", "[]", "JSON");
        row("version", with("'version': 1", "'version': 2"), "version");
        row("no models", json("{'version': 1}"), "models");
        row("kind", with("chat", "song"), "chat");
        row("file leaves the folder", with("a.gguf", "../a.gguf"), "file");
        row("hidden file", with("a.gguf", ".a.gguf"), "file");
        row("plain http", with("https://example.org/a", "http://example.org/a"), "address");
        row("no licence", with("'licence'", "'license'"), "licence");
        row("short hash", with("'sha256': null", "'sha256': 'abc'"), "sha256");
        row("negative size", with("'bytes': null", "'bytes': -5"), "bytes");
        row("source", with("'kind': 'https'", "'kind': 'ftp'"), "pip");
        row("no parts", with("'kind': 'https'", "'kind': 'pip'"), "parts");
        row("package is an option", part("'p'", "'-r'"), "package");
        row("version is a range", part("'1'", "'>1'"), "version");
        row("member leaves", part("'m'", "'../m'"), "member");
        row("part without size", part("'bytes': 1", "'bytes': 0"), "bytes");
        row("twice", with("[{", "[" + entry + ",{"), "twice");
    }
    void faultsAreNamed() {
        QFETCH(QString, text);
        QFETCH(QString, named);
        const auto entries = sessions::parseCatalogue(text.toStdString());
        QVERIFY(!entries.ok());
        QVERIFY(entries.error().code == ErrorCode::BadInput);
        QVERIFY2(QString::fromStdString(entries.error().message).contains(named), entries.error().message.c_str());
    }
};

FIRSTTOKEN_TEST_CLASS(TestCatalogue);
#include "test_catalogue.moc"
