#include "engine/text/jinja/marked_string.h"

#include <algorithm>

#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

std::size_t MarkedString::runOf(std::size_t at) const {
    const auto found = std::upper_bound(m_runs.begin(), m_runs.end(), at,
                                        [](std::size_t value, const Run& run) { return value < run.end; });
    return static_cast<std::size_t>(found - m_runs.begin());
}

bool MarkedString::trustedAt(std::size_t at) const { return m_runs[runOf(at)].trusted; }

void MarkedString::append(std::string_view bytes, bool trusted) {
    if (bytes.empty()) return;
    if (m_bytes.size() > maxTextBytes || bytes.size() > maxTextBytes - m_bytes.size()) {
        throw TemplateError("a text is too long (64 MiB)");
    }
    m_bytes += bytes;
    if (!m_runs.empty() && m_runs.back().trusted == trusted) {
        m_runs.back().end = m_bytes.size();
    } else {
        m_runs.push_back({m_bytes.size(), trusted});
    }
}

void MarkedString::append(const MarkedString& other, std::size_t from, std::size_t length) {
    if (&other == this) {
        append(MarkedString(other), from, length);
        return;
    }
    if (from >= other.size()) return;
    const std::size_t end = from + std::min(length, other.size() - from);
    for (std::size_t run = other.runOf(from); from < end; ++run) {
        const std::size_t runEnd = std::min(end, other.m_runs[run].end);
        append(other.view().substr(from, runEnd - from), other.m_runs[run].trusted);
        from = runEnd;
    }
}

MarkedString MarkedString::cut(std::size_t from, std::size_t length) const {
    MarkedString out;
    out.append(*this, from, length);
    return out;
}

}  // namespace firsttoken::engine::jinja
