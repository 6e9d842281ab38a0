#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace firsttoken::engine {

/// Finds stop strings in streamed text: releases only what can no longer become part of one, and never the stop
/// string itself. The match that is complete first wins; of those complete at the same place, the longest. So the
/// outcome does not depend on how the text was split. Owned by one sequence.
class StopMatcher {
public:
    /// Empty stop strings are ignored.
    explicit StopMatcher(std::vector<std::string> stops);

    struct Out {
        std::string text;      ///< released now
        bool stopped = false;  ///< a stop string is complete; all text after its start is dropped
        std::string stop;      ///< which one
    };
    /// Linear in text.size() × number of stop strings. After a stop everything is dropped.
    Out push(std::string_view text);
    /// At any other end: the text still held. Empty after a stop.
    std::string flush();

private:
    struct Stop {
        std::string text;
        std::vector<std::size_t> failure;  ///< [i]: longest proper border of text[0 … i] (Knuth, Morris, Pratt)
        std::size_t matched = 0;           ///< bytes of text that the input ends with
    };
    void advance(Stop& stop, char byte) const;
    /// The longest of the stop strings that the input so far ends with; null if none does.
    const Stop* completed() const;

    std::vector<Stop> m_stops;
    std::string m_held;
    bool m_stopped = false;
};

}  // namespace firsttoken::engine
