#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace firsttoken::engine {

/// Worker threads of one executor. The caller of run() is worker 0. Between two runs that follow each other closely
/// workers spin, then sleep. Used from the engine loop's thread only.
class WorkerPool {
public:
    /// `threads` in all, the caller included; at least 1.
    explicit WorkerPool(std::uint32_t threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// item(i, worker) for every i in [0, items), each once, in any order on any worker; returns when all are done.
    /// `item` must not throw.
    using Item = std::function<void(std::size_t item, std::uint32_t worker)>;
    void run(std::size_t items, const Item& item);
    std::uint32_t threads() const { return static_cast<std::uint32_t>(m_workers.size()) + 1; }

private:
    void work(std::uint32_t worker);
    void takeItems(std::uint32_t worker);

    std::vector<std::thread> m_workers;
    const Item* m_item = nullptr;
    std::size_t m_items = 0;
    std::atomic<std::size_t> m_next{0};
    std::atomic<std::uint32_t> m_generation{0};
    std::atomic<std::uint32_t> m_busy{0};
    std::atomic<bool> m_stop{false};
};

}  // namespace firsttoken::engine
