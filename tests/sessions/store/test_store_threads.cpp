#include <QTemporaryDir>
#include <QtTest>
#include <atomic>
#include <thread>

#include "sessions/session_store.h"
#include "tests/sessions/store/numbered_request.h"
#include "tests/sessions/store/sample_sessions.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {

using namespace sessions;
using engine::ErrorCode;

class TestStoreThreads : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::string path(const char* name) { return m_folder.filePath(QString::fromUtf8(name)).toStdString(); }

private slots:
    void readersSeeWholeMomentsWhileManyWrite() {
        constexpr int writers = 3, records = 2000;
        auto store =
            std::move(*SessionStore::open({.path = path("many.sqlite"), .commitEvery = std::chrono::milliseconds(1)}));
        const auto starred = *store->insert(fixtureChat());
        std::vector<std::unique_ptr<SessionWriter>> sessions;
        for (int i = 0; i < writers; ++i) sessions.push_back(std::move(*store->begin(fixtureChat().header)));
        std::atomic<int> running{writers};
        std::atomic<int> faults{0};
        std::vector<std::thread> threads;
        for (auto& session : sessions) {
            threads.emplace_back([&] {
                for (int number = 1; number <= records; ++number) {
                    session->request(numberedRequest(number));
                    session->span({number, engine::Stage::Queue, number, number + 1});
                    SampleRecord sample;
                    sample.atNs = number;
                    session->sample(sample);
                }
                if (!session->end(SessionState::Completed)) ++faults;
                --running;
            });
        }
        for (int reader = 0; reader < 2; ++reader) {
            threads.emplace_back([&] {
                while (running > 0) {
                    const auto list = store->list("prompt");
                    if (!list) ++faults;
                    for (const auto& session : sessions) {
                        const auto loaded = store->load(session->id());
                        // Requests come in order and the three kinds together: a moment has no holes.
                        if (!loaded ||
                            (!loaded->requests.empty() &&
                             loaded->requests.back().number != std::ssize(loaded->requests)) ||
                            loaded->samples.size() > loaded->requests.size() ||
                            loaded->samples.size() + 1 < loaded->requests.size()) {
                            ++faults;
                        }
                    }
                }
            });
        }
        threads.emplace_back([&] {
            for (int i = 0; running > 0; ++i) {
                if (!store->setStarred(starred, i % 2 == 0) || !store->rename(starred, std::to_string(i))) ++faults;
                const auto id = store->insert(fixtureLoad());
                if (!id || !store->remove(*id)) ++faults;
                static_cast<void>(store->statistics());
            }
        });
        for (auto& thread : threads) thread.join();
        QCOMPARE(faults.load(), 0);
        for (const auto& session : sessions) {
            QVERIFY(!session->error());
            const auto loaded = store->load(session->id());
            QCOMPARE(loaded->requests.size(), std::size_t{records});
            QCOMPARE(loaded->spans.size(), std::size_t{records});
            QCOMPARE(loaded->samples.size(), std::size_t{records});
        }
        const auto statistics = store->statistics();
        QCOMPARE(statistics.queueDropped, std::uint64_t{0});
        QVERIFY(statistics.queuePeak > 0);
        QVERIFY(statistics.commits > 1);
        QVERIFY(statistics.writerCpuNs > 0);
    }

    void aFullQueueIsCounted() {
        auto store = std::move(*SessionStore::open(
            {.path = path("full.sqlite"), .queueCapacity = 4, .commitEvery = std::chrono::hours(1)}));
        auto writer = std::move(*store->begin({}));
        int given = 0;
        while (!writer->error() && given < 1'000'000) writer->request(numberedRequest(++given));
        QVERIFY(writer->error()->message.find("takes no more records") != std::string::npos);
        QVERIFY(writer->end(SessionState::Completed).ok());
        const auto dropped = store->statistics().queueDropped;
        QCOMPARE(dropped, std::uint64_t{1});
        QCOMPARE(store->load(writer->id())->requests.size(), static_cast<std::size_t>(given - 1));
        QVERIFY(store->load(writer->id())->header.state == SessionState::Completed);
    }

    void closingCommitsWhatIsQueued() {
        const auto file = path("closed.sqlite");
        auto store = std::move(*SessionStore::open({.path = file, .commitEvery = std::chrono::hours(1)}));
        auto writer = std::move(*store->begin({}));
        writer->request(numberedRequest(1));
        store.reset();
        store = std::move(*SessionStore::open({.path = file}));
        QCOMPARE(store->load(writer->id())->requests.size(), std::size_t{1});
    }
};

FIRSTTOKEN_TEST_CLASS(TestStoreThreads);

}  // namespace firsttoken::tests

#include "test_store_threads.moc"
