#include "engine/compute/cpu/worker_pool.h"

#include <cfenv>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace firsttoken::engine {

namespace {

constexpr int kSpins = 4000;  // tens of microseconds: longer than the gap between two operations of a step

void pauseCore() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

/// One rounding and denormal mode in every engine thread, whatever the host program set in its own.
void setArithmeticMode() {
#if defined(__x86_64__)
    _mm_setcsr(0x1F80);  // round to nearest even, denormals kept, exceptions masked
#else
    std::fesetenv(FE_DFL_ENV);
#endif
}

}  // namespace

WorkerPool::WorkerPool(std::uint32_t threads) {
    for (std::uint32_t i = 1; i < threads; ++i) m_workers.emplace_back([this, i] { work(i); });
}

WorkerPool::~WorkerPool() {
    m_stop.store(true, std::memory_order_relaxed);
    m_generation.fetch_add(1, std::memory_order_release);
    m_generation.notify_all();
    for (std::thread& worker : m_workers) worker.join();
}

void WorkerPool::takeItems(std::uint32_t worker) {
    for (;;) {
        const std::size_t i = m_next.fetch_add(1, std::memory_order_relaxed);
        if (i >= m_items) return;
        (*m_item)(i, worker);
    }
}

void WorkerPool::run(std::size_t items, const Item& item) {
    setArithmeticMode();
    if (items <= 1 || m_workers.empty()) {
        for (std::size_t i = 0; i < items; ++i) item(i, 0);
        return;
    }
    m_item = &item;
    m_items = items;
    m_next.store(0, std::memory_order_relaxed);
    m_busy.store(static_cast<std::uint32_t>(m_workers.size()), std::memory_order_relaxed);
    m_generation.fetch_add(1, std::memory_order_release);
    m_generation.notify_all();
    takeItems(0);
    int spins = 0;
    for (std::uint32_t busy = m_busy.load(std::memory_order_acquire); busy != 0;
         busy = m_busy.load(std::memory_order_acquire)) {
        if (++spins < kSpins) {
            pauseCore();
        } else {
            m_busy.wait(busy, std::memory_order_acquire);
        }
    }
}

void WorkerPool::work(std::uint32_t worker) {
    setArithmeticMode();
    std::uint32_t seen = 0;
    for (;;) {
        int spins = 0;
        std::uint32_t generation = m_generation.load(std::memory_order_acquire);
        while (generation == seen) {
            if (++spins < kSpins) {
                pauseCore();
            } else {
                m_generation.wait(seen, std::memory_order_acquire);
            }
            generation = m_generation.load(std::memory_order_acquire);
        }
        seen = generation;
        if (m_stop.load(std::memory_order_relaxed)) return;
        takeItems(worker);
        if (m_busy.fetch_sub(1, std::memory_order_acq_rel) == 1) m_busy.notify_one();
    }
}

}  // namespace firsttoken::engine
