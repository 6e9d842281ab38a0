#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

/// Unaligned little-endian access. GGUF is little-endian, and so is every machine that this builds for.
namespace firsttoken::engine {

static_assert(std::endian::native == std::endian::little);

/// Pre: `bytes` holds at least sizeof(T).
template <class T>
T readValue(const std::byte* bytes) {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

/// Walks through bytes of unknown honesty: every step says whether it stayed inside.
class ByteCursor {
public:
    explicit ByteCursor(std::span<const std::byte> bytes) : m_bytes(bytes) {}

    std::size_t position() const { return m_position; }
    std::size_t left() const { return m_bytes.size() - m_position; }

    template <class T>
    bool read(T& value) {
        if (left() < sizeof(T)) return false;
        value = readValue<T>(m_bytes.data() + m_position);
        m_position += sizeof(T);
        return true;
    }
    bool take(std::uint64_t count, std::span<const std::byte>& taken) {
        if (count > left()) return false;
        taken = m_bytes.subspan(m_position, static_cast<std::size_t>(count));
        m_position += static_cast<std::size_t>(count);
        return true;
    }

private:
    std::span<const std::byte> m_bytes;
    std::size_t m_position = 0;
};

inline std::string_view asText(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace firsttoken::engine
