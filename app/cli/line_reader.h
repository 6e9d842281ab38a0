#pragma once

#include <string>

namespace firsttoken::app {

/// Lines of stdin, read so that an interrupt ends the waiting.
class LineReader {
public:
    enum class Outcome { Line, End, Interrupted, TooLong };

    /// `wake`: becomes readable when waiting must end.
    explicit LineReader(int wake) : m_wake(wake) {}
    /// A line without its end ("\n" or "\r\n"). What follows the last line end counts as a line too.
    Outcome read(std::string& line);

private:
    Outcome fill();

    int m_wake;
    std::string m_buffer;
    std::size_t m_searched = 0;  ///< bytes of the buffer that hold no line end
    bool m_ended = false;
};

}  // namespace firsttoken::app
