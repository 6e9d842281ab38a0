#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QFile>
#include <QTemporaryDir>
#include <stop_token>
#include <thread>

#include "sessions/models/child_process.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using engine::ErrorCode;

class TestChildProcess : public QObject {
    Q_OBJECT

private slots:
    void outputAndExitCodeComeBack() {
        const auto child = sessions::runChild({"sh", "-c", "echo out; echo err >&2; exit 3"}, {});
        QVERIFY(child.ok());
        QCOMPARE(child->exitCode, 3);
        QVERIFY(child->output.find("out") != std::string::npos);
        QVERIFY(child->output.find("err") != std::string::npos);
    }

    void thereIsNoInput() {
        const auto child = sessions::runChild({"cat"}, {});
        QVERIFY(child.ok());
        QCOMPARE(child->exitCode, 0);
        QVERIFY(child->output.empty());
    }

    void onlyTheEndOfLongOutputIsKept() {
        const auto child = sessions::runChild({"sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x; echo the end"}, {});
        QVERIFY(child.ok());
        QCOMPARE(child->output.size(), std::size_t{64} << 10);
        QVERIFY(child->output.ends_with("the end\n"));
    }

    void anUnknownProgramIsNotFound() {
        const auto child = sessions::runChild({"no-such-program-of-ours"}, {});
        QVERIFY(!child.ok());
        QVERIFY(child.error().code == ErrorCode::NotFound);
        QVERIFY(child.error().message.find("no-such-program-of-ours") != std::string::npos);
    }

    void aSignalIsTold() {
        const auto child = sessions::runChild({"sh", "-c", "kill -KILL $$"}, {});
        QVERIFY(child.ok());
        QCOMPARE(child->exitCode, 128 + 9);
    }

    void aStopEndsTheChildAndItsChildren() { QVERIFY(endsWhenStopped("sleep 1000 & : > \"$0\"; sleep 1000")); }

    void aStopEndsAChildThatDoesNotListen() {
        QVERIFY(endsWhenStopped("trap '' INT; : > \"$0\"; while :; do sleep 0.1; done"));
    }

    void aStopBeforehandStartsNothing() {
        QTemporaryDir folder;
        std::stop_source source;
        source.request_stop();
        const auto child = sessions::runChild({"touch", folder.filePath("made").toStdString()}, source.get_token());
        QVERIFY(!child.ok());
        QVERIFY(child.error().code == ErrorCode::Cancelled);
        QVERIFY(!QFile::exists(folder.filePath("made")));
    }

private:
    /// Stops the script once it has opened the pipe that is its $0; true if it was cancelled then.
    static bool endsWhenStopped(const std::string& script) {
        const QTemporaryDir folder;
        const auto pipe = folder.filePath("pipe").toStdString();
        if (::mkfifo(pipe.c_str(), 0600) != 0) return false;
        std::stop_source source;
        std::thread stopper([&] {
            ::close(::open(pipe.c_str(), O_RDONLY));  // waits for the script
            source.request_stop();
        });
        const auto child = sessions::runChild({"sh", "-c", script, pipe}, source.get_token());
        stopper.join();
        return !child.ok() && child.error().code == ErrorCode::Cancelled;
    }
};

FIRSTTOKEN_TEST_CLASS(TestChildProcess);
#include "test_child_process.moc"
