#include <QtTest>
#include <atomic>
#include <vector>

#include "engine/compute/cpu/worker_pool.h"
#include "tests/support/test_registry.h"

using firsttoken::engine::WorkerPool;

class TestWorkerPool : public QObject {
    Q_OBJECT

private slots:
    void everyItemOnce() {
        for (const std::uint32_t threads : {1U, 2U, 5U}) {
            WorkerPool pool(threads);
            QCOMPARE(pool.threads(), threads);
            for (std::size_t items = 0; items < 300; ++items) {
                std::vector<std::atomic<int>> seen(items);
                pool.run(items, [&](std::size_t i, std::uint32_t worker) {
                    QVERIFY(worker < threads);
                    seen[i].fetch_add(1);
                });
                for (const auto& count : seen) QCOMPARE(count.load(), 1);
            }
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestWorkerPool);
#include "test_worker_pool.moc"
