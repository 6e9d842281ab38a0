#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace firsttoken::engine::jinja {

/// No text of a template grows beyond this.
inline constexpr std::size_t maxTextBytes = std::size_t{64} << 20U;

/// Bytes that remember where they come from: the template (trusted), or a person or model (not). Whatever is cut out
/// of it or appended keeps its mark. Equality and order look at the bytes alone.
class MarkedString {
public:
    /// Bytes up to `end` have the mark; from the end of the run before.
    struct Run {
        std::size_t end = 0;
        bool trusted = false;
    };

    MarkedString() = default;
    MarkedString(std::string bytes, bool trusted) : m_bytes(std::move(bytes)) {
        if (!m_bytes.empty()) m_runs.push_back({m_bytes.size(), trusted});
    }

    const std::string& bytes() const { return m_bytes; }
    std::string_view view() const { return m_bytes; }
    std::size_t size() const { return m_bytes.size(); }
    bool empty() const { return m_bytes.empty(); }
    const std::vector<Run>& runs() const { return m_runs; }
    /// Of the byte at `at` (< size()).
    bool trustedAt(std::size_t at) const;

    /// Throws TemplateError over maxTextBytes, as do the others.
    void append(std::string_view bytes, bool trusted);
    void append(const MarkedString& other) { append(other, 0, other.size()); }
    /// `length` bytes of `other` from `from`; cut off at its end.
    void append(const MarkedString& other, std::size_t from, std::size_t length);
    MarkedString cut(std::size_t from, std::size_t length = std::string::npos) const;

    bool operator==(const MarkedString& other) const { return m_bytes == other.m_bytes; }

private:
    std::size_t runOf(std::size_t at) const;

    std::string m_bytes;
    std::vector<Run> m_runs;  ///< neighbours differ in their mark
};

inline MarkedString trusted(std::string bytes) { return MarkedString(std::move(bytes), true); }

}  // namespace firsttoken::engine::jinja
