#include "app/cli/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace firsttoken::app {

namespace {

constexpr std::size_t longestLine = 16U << 20;

}  // namespace

/// Adds what stdin has; Line means: go on.
LineReader::Outcome LineReader::fill() {
    std::array<pollfd, 2> waits = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{m_wake, POLLIN, 0}};
    if (::poll(waits.data(), waits.size(), -1) < 0) {
        m_ended = errno != EINTR;
        return Outcome::Line;
    }
    if (waits[1].revents != 0) return Outcome::Interrupted;
    std::array<char, 1U << 16> block;
    const auto count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return Outcome::Line;
    if (count <= 0) {
        m_ended = true;
        return Outcome::End;
    }
    m_buffer.append(block.data(), static_cast<std::size_t>(count));
    return Outcome::Line;
}

LineReader::Outcome LineReader::read(std::string& line) {
    for (;;) {
        const auto end = m_buffer.find('\n', m_searched);
        const bool rest = end == m_buffer.npos && m_ended && !m_buffer.empty();
        if (end != m_buffer.npos || rest) {
            line = m_buffer.substr(0, end);
            m_buffer.erase(0, rest ? m_buffer.size() : end + 1);
            m_searched = 0;
            if (line.ends_with('\r')) line.pop_back();
            return Outcome::Line;
        }
        if (m_ended) return Outcome::End;
        m_searched = m_buffer.size();
        if (m_buffer.size() > longestLine) return Outcome::TooLong;
        if (fill() == Outcome::Interrupted) return Outcome::Interrupted;
    }
}

}  // namespace firsttoken::app
