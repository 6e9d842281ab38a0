#include "sessions/store/record_blobs.h"

namespace firsttoken::sessions {

namespace {

/// Differences wrap around, so that every pair of values has one.
std::uint64_t difference(std::int64_t value, std::int64_t before) {
    return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(before);
}
std::int64_t sum(std::int64_t before, std::uint64_t difference) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(before) + difference);
}
/// 0, −1, 1, −2 … become 0, 1, 2, 3 …: small differences of both signs are short.
std::uint64_t fold(std::uint64_t value) { return (value << 1U) ^ (0U - (value >> 63U)); }
std::uint64_t unfold(std::uint64_t value) { return (value >> 1U) ^ (0U - (value & 1U)); }

void append(std::string& bytes, std::uint64_t value) {
    while (value >= 0x80U) {
        bytes += static_cast<char>(static_cast<unsigned char>(value | 0x80U));
        value >>= 7U;
    }
    bytes += static_cast<char>(static_cast<unsigned char>(value));
}

class Reader {
public:
    explicit Reader(std::string_view bytes) : m_bytes(bytes) {}

    bool atEnd() const { return m_at == m_bytes.size(); }
    std::size_t left() const { return m_bytes.size() - m_at; }
    /// False at the end of the bytes, or for more than 64 bits.
    bool next(std::uint64_t& value) {
        value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (atEnd()) return false;
            const auto byte = static_cast<unsigned char>(m_bytes[m_at++]);
            if (shift == 63 && byte > 1) return false;
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if ((byte & 0x80U) == 0) return true;
        }
        return false;
    }
    bool nextDifference(std::uint64_t& value) {
        if (!next(value)) return false;
        value = unfold(value);
        return true;
    }
    /// A number of items of at least `bytesEach`: never more than the bytes can hold.
    bool nextCount(std::size_t bytesEach, std::size_t& count) {
        std::uint64_t value = 0;
        if (!next(value) || value > left() / bytesEach) return false;
        count = static_cast<std::size_t>(value);
        return true;
    }

private:
    std::string_view m_bytes;
    std::size_t m_at = 0;
};

}  // namespace

std::string packTimes(const std::vector<std::int64_t>& times) {
    std::string bytes;
    bytes.reserve(8 + times.size() * 5);
    append(bytes, times.size());
    std::int64_t before = 0;
    for (const auto time : times) {
        append(bytes, fold(difference(time, before)));
        before = time;
    }
    return bytes;
}

std::optional<std::vector<std::int64_t>> unpackTimes(std::string_view bytes) {
    Reader reader(bytes);
    std::size_t count = 0;
    if (!reader.nextCount(1, count)) return std::nullopt;
    std::vector<std::int64_t> times(count);
    std::int64_t before = 0;
    for (auto& time : times) {
        std::uint64_t step = 0;
        if (!reader.nextDifference(step)) return std::nullopt;
        time = before = sum(before, step);
    }
    if (!reader.atEnd()) return std::nullopt;
    return times;
}

std::string packSpans(const std::vector<SpanRecord>& spans) {
    std::string bytes;
    bytes.reserve(8 + spans.size() * 12);
    append(bytes, spans.size());
    SpanRecord before;
    for (const auto& span : spans) {
        append(bytes, fold(difference(span.request, before.request)));
        append(bytes, static_cast<std::uint64_t>(span.stage));
        append(bytes, fold(difference(span.startNs, before.startNs)));
        append(bytes, fold(difference(span.endNs, span.startNs)));
        before = span;
    }
    return bytes;
}

bool unpackSpans(std::string_view bytes, std::vector<SpanRecord>& spans) {
    Reader reader(bytes);
    std::size_t count = 0;
    if (!reader.nextCount(4, count)) return false;
    SpanRecord span;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t request = 0, stage = 0, start = 0, length = 0;
        if (!reader.nextDifference(request) || !reader.next(stage) || !reader.nextDifference(start) ||
            !reader.nextDifference(length) || stage > static_cast<std::uint64_t>(engine::Stage::Stream)) {
            return false;
        }
        span.request = sum(span.request, request);
        span.stage = static_cast<engine::Stage>(stage);
        span.startNs = sum(span.startNs, start);
        span.endNs = sum(span.startNs, length);
        spans.push_back(span);
    }
    return reader.atEnd();
}

}  // namespace firsttoken::sessions
