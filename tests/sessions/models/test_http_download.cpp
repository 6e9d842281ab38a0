#include <QFile>
#include <QTemporaryDir>

#include "sessions/models/http_download.h"
#include "tests/sessions/models/tiny_server.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::tests;
using engine::ErrorCode;

namespace {

/// A file on a server that understands ranges. `cutAt`: bytes of body after which the connection is closed.
struct ServedFile {
    std::string body;
    std::string etag = "\"one\"";
    std::size_t cutAt = std::string::npos;

    std::string answer(const std::string& request) const {
        const auto range = headerOf(request, "Range");
        std::size_t start = 0;
        std::string head = "HTTP/1.1 200 OK\r\n";
        if (!range.empty() && headerOf(request, "If-Range") == etag) {
            start = std::stoul(range.substr(range.find('=') + 1));
            if (start >= body.size()) return "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n";
            head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(start) + "-" +
                   std::to_string(body.size() - 1) + "/" + std::to_string(body.size()) + "\r\n";
        }
        const auto rest = body.substr(start);
        head +=
            "ETag: " + etag + "\r\nContent-Length: " + std::to_string(rest.size()) + "\r\nConnection: close\r\n\r\n";
        return request.starts_with("HEAD") ? head : head + rest.substr(0, cutAt);
    }
};

std::string bodyOf(std::size_t bytes) {
    std::string body(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) body[i] = static_cast<char>(i * 31 % 251);
    return body;
}

}  // namespace

class TestHttpDownload : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    sessions::HttpDownload download(const TinyServer& server) {
        sessions::HttpDownload what;
        what.address = server.address();
        what.target = m_folder.filePath("download").toStdString();
        what.protocols = "http";
        return what;
    }
    QByteArray got() {
        QFile file(m_folder.filePath("download"));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

private slots:
    void init() {
        QFile::remove(m_folder.filePath("download"));
        QFile::remove(m_folder.filePath("download.origin"));
    }

    void aWholeFileComes() {
        ServedFile file{bodyOf(300'000)};
        const TinyServer server([&](const std::string& request) { return file.answer(request); });
        auto what = download(server);
        std::uint64_t last = 0;
        std::uint64_t total = 0;
        what.progress = [&](std::uint64_t done, std::uint64_t all) {
            last = done;
            total = all;
        };
        const auto bytes = sessions::downloadHttp(what);
        QVERIFY2(bytes.ok(), bytes ? "" : bytes.error().message.c_str());
        QCOMPARE(*bytes, std::uint64_t{300'000});
        QCOMPARE(got().toStdString(), file.body);
        QCOMPARE(last, std::uint64_t{300'000});
        QCOMPARE(total, std::uint64_t{300'000});
    }

    void anInterruptedOneIsContinued() {
        ServedFile file{bodyOf(300'000)};
        file.cutAt = 120'000;
        const TinyServer server([&](const std::string& request) { return file.answer(request); });
        const auto first = sessions::downloadHttp(download(server));
        QVERIFY(!first.ok());
        QVERIFY(first.error().code == ErrorCode::Io);
        QCOMPARE(got().size(), 120'000);
        file.cutAt = std::string::npos;
        const auto second = sessions::downloadHttp(download(server));
        QVERIFY2(second.ok(), second ? "" : second.error().message.c_str());
        QCOMPARE(got().toStdString(), file.body);
        QCOMPARE(headerOf(server.requests().back(), "Range"), std::string("bytes=120000-"));
        QCOMPARE(headerOf(server.requests().back(), "If-Range"), std::string("\"one\""));
    }

    void anotherFileOnTheServerStartsAnew() {
        ServedFile file{bodyOf(300'000)};
        file.cutAt = 120'000;
        const TinyServer server([&](const std::string& request) { return file.answer(request); });
        QVERIFY(!sessions::downloadHttp(download(server)).ok());
        file.body = std::string(200'000, 'n');
        file.etag = "\"two\"";
        file.cutAt = std::string::npos;
        const auto second = sessions::downloadHttp(download(server));
        QVERIFY(second.ok());
        QCOMPARE(got().toStdString(), file.body);
    }

    void withoutAValidatorNothingIsContinued() {
        ServedFile file{bodyOf(300'000)};
        file.etag = "W/\"weak\"";
        file.cutAt = 120'000;
        const TinyServer server([&](const std::string& request) { return file.answer(request); });
        QVERIFY(!sessions::downloadHttp(download(server)).ok());
        file.cutAt = std::string::npos;
        QVERIFY(sessions::downloadHttp(download(server)).ok());
        QVERIFY(headerOf(server.requests().back(), "Range").empty());
        QCOMPARE(got().toStdString(), file.body);
    }

    void aCompleteFileOfUnknownSizeIsAskedForOnce() {
        ServedFile file{bodyOf(1'000)};
        const TinyServer server([&](const std::string& request) { return file.answer(request); });
        QVERIFY(sessions::downloadHttp(download(server)).ok());
        const auto again = sessions::downloadHttp(download(server));  // 416, then from the start
        QVERIFY(again.ok());
        QCOMPARE(got().toStdString(), file.body);
    }

    void anotherSizeIsRefused() {
        ServedFile file{bodyOf(1'000)};
        const TinyServer server([&](const std::string& request) { return file.answer(request); });
        auto what = download(server);
        what.bytes = 999;
        const auto bytes = sessions::downloadHttp(what);
        QVERIFY(!bytes.ok());
        QVERIFY(bytes.error().code == ErrorCode::BadInput);
        QVERIFY(bytes.error().message.find("999") != std::string::npos);
    }

    void whatTheServerDoesNotHaveIsNotFound() {
        const TinyServer server([](const std::string&) {
            return std::string("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nConnection: close\r\n\r\nsorry");
        });
        const auto bytes = sessions::downloadHttp(download(server));
        QVERIFY(!bytes.ok());
        QVERIFY(bytes.error().code == ErrorCode::NotFound);
        QVERIFY(bytes.error().message.find("404") != std::string::npos);
        QVERIFY(got().isEmpty());
        QVERIFY(!sessions::probeHttp(server.address(), "http", {}).ok());
    }

    void aRedirectIsFollowedOnlyWithinTheProtocols() {
        ServedFile file{bodyOf(1'000)};
        std::string target = "/elsewhere";
        const TinyServer server([&](const std::string& request) {
            if (request.find(" /elsewhere ") != std::string::npos) return file.answer(request);
            return "HTTP/1.1 302 Found\r\nETag: \"of the redirect\"\r\nLocation: " + target +
                   "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        });
        QVERIFY(sessions::downloadHttp(download(server)).ok());
        QCOMPARE(got().toStdString(), file.body);
        init();
        target = "file:///etc/hostname";
        const auto refused = sessions::downloadHttp(download(server));
        QVERIFY(!refused.ok());
        QVERIFY(got().isEmpty());
    }

    void plainHttpIsRefusedByDefault() {
        ServedFile file{bodyOf(10)};
        const TinyServer server([&](const std::string& request) { return file.answer(request); });
        auto what = download(server);
        what.protocols = sessions::HttpDownload().protocols;
        QVERIFY(!sessions::downloadHttp(what).ok());
        QVERIFY(server.requests().empty());
    }

    void aStopKeepsWhatCame() {
        ServedFile file{bodyOf(4'000'000)};
        const TinyServer server([&](const std::string& request) { return file.answer(request); });
        auto what = download(server);
        std::stop_source source;
        what.stop = source.get_token();
        what.progress = [&](std::uint64_t done, std::uint64_t) {
            if (done > 0) source.request_stop();
        };
        const auto stopped = sessions::downloadHttp(what);
        if (stopped.ok()) QSKIP("the whole file was there before the stop was seen");
        QVERIFY(stopped.error().code == ErrorCode::Cancelled);
        QVERIFY(!got().isEmpty());
        QVERIFY(sessions::downloadHttp(download(server)).ok());
        QCOMPARE(got().toStdString(), file.body);
    }

    void nobodyListens() {
        std::string address;
        {
            const TinyServer server([](const std::string&) { return std::string(); });
            address = server.address();
        }
        const auto reached = sessions::probeHttp(address, "http", {});
        QVERIFY(!reached.ok());
        QVERIFY(reached.error().code == ErrorCode::Io);
    }
};

FIRSTTOKEN_TEST_CLASS(TestHttpDownload);
#include "test_http_download.moc"
