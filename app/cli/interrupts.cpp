#include "app/cli/interrupts.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "app/cli/console.h"

namespace firsttoken::app {

namespace {

sigset_t watchedSignals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

void raiseFlag(int descriptor) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(descriptor, &one, sizeof one);
}

void lowerFlag(int descriptor) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto taken = ::read(descriptor, &count, sizeof count);
}

}  // namespace

Interrupts::Interrupts() {
    const auto set = watchedSignals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    m_signals = ::signalfd(-1, &set, SFD_CLOEXEC);
    m_wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    m_close = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    m_thread = std::thread([this] { watch(); });
}

Interrupts::~Interrupts() {
    raiseFlag(m_close);
    m_thread.join();
    ::close(m_signals);
    ::close(m_wake);
    ::close(m_close);
    const auto set = watchedSignals();
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

std::stop_token Interrupts::token() const {
    const std::lock_guard lock(m_mutex);
    return m_source.get_token();
}

bool Interrupts::ending() const {
    const std::lock_guard lock(m_mutex);
    return m_ending;
}

void Interrupts::take() {
    const std::lock_guard lock(m_mutex);
    if (!m_source.stop_requested()) return;
    m_source = std::stop_source();
    lowerFlag(m_wake);
}

void Interrupts::watch() {
    for (;;) {
        std::array<pollfd, 2> waits = {pollfd{m_signals, POLLIN, 0}, pollfd{m_close, POLLIN, 0}};
        if (::poll(waits.data(), waits.size(), -1) < 0) continue;
        if (waits[1].revents != 0) return;
        signalfd_siginfo signal{};
        if (::read(m_signals, &signal, sizeof signal) != sizeof signal) continue;
        const std::lock_guard lock(m_mutex);
        if (m_source.stop_requested()) ::_exit(Interrupted);
        m_ending = m_ending || signal.ssi_signo == SIGTERM;
        m_source.request_stop();
        raiseFlag(m_wake);
    }
}

}  // namespace firsttoken::app
