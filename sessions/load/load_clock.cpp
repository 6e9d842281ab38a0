#include "sessions/load/load_clock.h"

#include <sys/prctl.h>

#include <chrono>
#include <ctime>

namespace firsttoken::sessions {

namespace {
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;
}  // namespace

engine::Nanoseconds SteadyLoadClock::now() const {
    return SteadyTime(std::chrono::steady_clock::now()).time_since_epoch().count();
}

void SteadyLoadClock::waitUntil(engine::Nanoseconds deadline) {
    if (!m_sharp) {
        prctl(PR_SET_TIMERSLACK, 1UL);  // else the kernel may add 50 µs to every wait
        m_sharp = true;
    }
    std::unique_lock lock(m_mutex);
    m_wake.wait_until(lock, SteadyTime(std::chrono::nanoseconds(deadline)), [this] { return m_woken; });
    m_woken = false;
}

void SteadyLoadClock::wake() {
    {
        const std::lock_guard lock(m_mutex);
        if (m_woken) return;
        m_woken = true;
    }
    m_wake.notify_one();
}

engine::Nanoseconds threadCpuNs() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return engine::Nanoseconds{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace firsttoken::sessions
