#pragma once

#include <string>
#include <string_view>

namespace firsttoken::engine {

/// Turns the bytes of one sequence's tokens into whole UTF-8 characters: what is unfinished waits, what can never
/// become a character is given out as U+FFFD at once (one for each maximal subpart, so the concatenation does not
/// depend on how the bytes were split). Owned by one sequence; at most 3 bytes wait.
class StreamDecoder {
public:
    /// The characters that are whole now; valid UTF-8, possibly empty.
    std::string push(std::string_view bytes);
    /// At the end of generation: U+FFFD for an unfinished character, else empty. The decoder is then as new.
    std::string flush();

private:
    std::string m_pending;
};

}  // namespace firsttoken::engine
