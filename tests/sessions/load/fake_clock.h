#pragma once

#include <QtGlobal>
#include <functional>
#include <map>

#include "sessions/load/load_clock.h"

namespace firsttoken::tests {

/// Time that passes only where somebody waits. What others would do meanwhile is put into an agenda and done, at its
/// moment, on the waiting thread. One thread.
class FakeClock final : public sessions::LoadClock {
public:
    explicit FakeClock(engine::Nanoseconds now) : m_now(now) {}

    engine::Nanoseconds now() const override { return m_now; }
    void wake() override { m_woken = true; }
    void waitUntil(engine::Nanoseconds deadline) override {
        ++waits;
        while (!m_woken) {
            const auto next = m_agenda.begin();
            if (next == m_agenda.end() || next->first > deadline) {
                if (deadline - m_now > longestWait) qFatal("everybody waits and nothing will happen");
                m_now = std::max(m_now, deadline) + lateNs;
                return;
            }
            m_now = std::max(m_now, next->first);
            const auto act = std::move(next->second);
            m_agenda.erase(next);
            act();
        }
        m_woken = false;
    }
    void at(engine::Nanoseconds when, std::function<void()> act) { m_agenda.emplace(when, std::move(act)); }

    engine::Nanoseconds lateNs = 0;  ///< how late a wait returns
    std::int64_t waits = 0;

private:
    static constexpr engine::Nanoseconds longestWait = 600'000'000'000;
    engine::Nanoseconds m_now;
    bool m_woken = false;
    std::multimap<engine::Nanoseconds, std::function<void()>> m_agenda;
};

}  // namespace firsttoken::tests
