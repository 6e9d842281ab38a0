#pragma once

#include <condition_variable>
#include <mutex>

#include "engine/events.h"

namespace firsttoken::sessions {

/// The time a load runs by: the steady clock, or a test's. One thread waits; any thread may ask and wake.
class LoadClock {
public:
    virtual ~LoadClock() = default;
    virtual engine::Nanoseconds now() const = 0;
    /// Returns at the absolute `deadline`, or at once after a wake() since the last return. May return early.
    virtual void waitUntil(engine::Nanoseconds deadline) = 0;
    virtual void wake() = 0;
};

/// Absolute waits on CLOCK_MONOTONIC, with the thread's timer slack at its least.
class SteadyLoadClock final : public LoadClock {
public:
    engine::Nanoseconds now() const override;
    void waitUntil(engine::Nanoseconds deadline) override;
    void wake() override;

private:
    std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_woken = false;
    bool m_sharp = false;  ///< the waiting thread's timer slack is set
};

/// CPU time of the calling thread.
engine::Nanoseconds threadCpuNs();

}  // namespace firsttoken::sessions
