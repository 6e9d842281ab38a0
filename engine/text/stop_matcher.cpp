#include "engine/text/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace firsttoken::engine {

StopMatcher::StopMatcher(std::vector<std::string> stops) {
    for (std::string& text : stops) {
        if (text.empty()) continue;
        Stop stop;
        stop.failure.resize(text.size(), 0);
        for (std::size_t i = 1, border = 0; i < text.size(); ++i) {
            while (border > 0 && text[i] != text[border]) border = stop.failure[border - 1];
            if (text[i] == text[border]) ++border;
            stop.failure[i] = border;
        }
        stop.text = std::move(text);
        m_stops.push_back(std::move(stop));
    }
}

void StopMatcher::advance(Stop& stop, char byte) const {
    while (stop.matched > 0 && stop.text[stop.matched] != byte) stop.matched = stop.failure[stop.matched - 1];
    if (stop.text[stop.matched] == byte) ++stop.matched;
}

const StopMatcher::Stop* StopMatcher::completed() const {
    const Stop* best = nullptr;
    for (const Stop& stop : m_stops) {
        if (stop.matched < stop.text.size()) continue;
        if (best == nullptr || stop.text.size() > best->text.size()) best = &stop;
    }
    return best;
}

StopMatcher::Out StopMatcher::push(std::string_view text) {
    Out out;
    if (m_stopped) return out;
    for (const char byte : text) {
        m_held.push_back(byte);
        for (Stop& stop : m_stops) advance(stop, byte);
        if (const Stop* stop = completed()) {
            m_stopped = true;
            out.stopped = true;
            out.stop = stop->text;
            out.text = m_held.substr(0, m_held.size() - stop->text.size());
            m_held.clear();
            return out;
        }
    }
    std::size_t keep = 0;
    for (const Stop& stop : m_stops) keep = std::max(keep, stop.matched);
    out.text = m_held.substr(0, m_held.size() - keep);
    m_held.erase(0, m_held.size() - keep);
    return out;
}

std::string StopMatcher::flush() {
    for (Stop& stop : m_stops) stop.matched = 0;
    return std::exchange(m_held, {});
}

}  // namespace firsttoken::engine
