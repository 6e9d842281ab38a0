#pragma once

#include <mutex>
#include <stop_token>
#include <thread>

namespace firsttoken::app {

/// Turns SIGINT and SIGTERM into a stop token and a readable descriptor, so that nothing runs in a signal handler.
/// Made on the main thread before others start: they inherit its signal mask. A second signal that comes before the
/// first was taken ends the program at once.
class Interrupts {
public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    /// Stopped by the next signal. Any thread.
    std::stop_token token() const;
    bool requested() const { return token().stop_requested(); }
    /// True after SIGTERM: the program is to end, not only what it does now.
    bool ending() const;
    /// Readable while an interrupt has not been taken.
    int descriptor() const { return m_wake; }
    /// Forgets the interrupt; later tokens are fresh.
    void take();

private:
    void watch();

    int m_signals = -1;  ///< signalfd
    int m_wake = -1;     ///< eventfd: readable after a signal
    int m_close = -1;    ///< eventfd: ends the watching thread
    mutable std::mutex m_mutex;
    std::stop_source m_source;
    bool m_ending = false;
    std::thread m_thread;
};

}  // namespace firsttoken::app
