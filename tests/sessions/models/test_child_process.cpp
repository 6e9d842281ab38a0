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

    void aStopEndsTheChildAndItsChildren() {
        std::stop_source source;
        std::thread stopper([&] { source.request_stop(); });
        const auto child = sessions::runChild({"sh", "-c", "sleep 1000 & sleep 1000"}, source.get_token());
        stopper.join();
        QVERIFY(!child.ok());
        QVERIFY(child.error().code == ErrorCode::Cancelled);
    }

    void aStopEndsAChildThatDoesNotListen() {
        std::stop_source source;
        std::thread stopper([&] { source.request_stop(); });
        const auto child =
            sessions::runChild({"sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"}, source.get_token());
        stopper.join();
        QVERIFY(!child.ok());
        QVERIFY(child.error().code == ErrorCode::Cancelled);
    }
};

FIRSTTOKEN_TEST_CLASS(TestChildProcess);
#include "test_child_process.moc"
