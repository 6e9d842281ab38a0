#include "engine/model/gguf_writer.h"

#include <cstring>

namespace firsttoken::engine {

namespace {

constexpr std::uint64_t alignment = 32;

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

void append(std::vector<std::byte>& target, std::span<const std::byte> bytes) {
    const std::size_t end = target.size();
    target.resize(end + bytes.size());
    if (!bytes.empty()) std::memcpy(target.data() + end, bytes.data(), bytes.size());
}
template <class T>
void appendValue(std::vector<std::byte>& target, T value) {
    append(target, std::as_bytes(std::span(&value, 1)));
}
void appendText(std::vector<std::byte>& target, std::string_view text) {
    appendValue(target, std::uint64_t{text.size()});
    append(target, std::as_bytes(std::span(text)));
}

}  // namespace

void GgufWriter::key(std::string_view name, GgufType type) {
    appendText(m_entries, name);
    appendValue(m_entries, static_cast<std::int32_t>(type));
    ++m_entryCount;
}

void GgufWriter::array(std::string_view name, GgufType elements, std::size_t count) {
    key(name, GgufType::Array);
    appendValue(m_entries, static_cast<std::int32_t>(elements));
    appendValue(m_entries, std::uint64_t{count});
}

void GgufWriter::add(std::string_view name, std::string_view value) {
    key(name, GgufType::String);
    appendText(m_entries, value);
}

void GgufWriter::add(std::string_view name, std::uint32_t value) {
    key(name, GgufType::U32);
    appendValue(m_entries, value);
}

void GgufWriter::add(std::string_view name, float value) {
    key(name, GgufType::F32);
    appendValue(m_entries, value);
}

void GgufWriter::add(std::string_view name, bool value) {
    key(name, GgufType::Bool);
    appendValue(m_entries, static_cast<std::uint8_t>(value ? 1 : 0));
}

void GgufWriter::add(std::string_view name, std::span<const std::string> values) {
    array(name, GgufType::String, values.size());
    for (const std::string& value : values) appendText(m_entries, value);
}

void GgufWriter::add(std::string_view name, std::span<const float> values) {
    array(name, GgufType::F32, values.size());
    append(m_entries, std::as_bytes(values));
}

void GgufWriter::add(std::string_view name, std::span<const std::int32_t> values) {
    array(name, GgufType::I32, values.size());
    append(m_entries, std::as_bytes(values));
}

void GgufWriter::add(const GgufEntry& entry) {
    if (entry.type == GgufType::Array) {
        array(entry.key, entry.elementType, entry.count);
    } else {
        key(entry.key, entry.type);
        if (entry.type == GgufType::String) appendValue(m_entries, std::uint64_t{entry.value.size()});
    }
    append(m_entries, entry.value);
}

std::uint64_t GgufWriter::addTensor(std::string_view name, WeightFormat format, std::span<const std::uint64_t> shape) {
    appendText(m_tensors, name);
    appendValue(m_tensors, static_cast<std::uint32_t>(shape.size()));
    std::uint64_t rows = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        appendValue(m_tensors, shape[d]);
        if (d > 0) rows *= shape[d];
    }
    const std::uint64_t offset = m_dataBytes;
    appendValue(m_tensors, static_cast<std::int32_t>(format));
    appendValue(m_tensors, offset);
    ++m_tensorCount;
    m_dataBytes += aligned(rows * rowBytes(format, shape.empty() ? 1 : static_cast<std::size_t>(shape[0])));
    return offset;
}

std::vector<std::byte> GgufWriter::head() const {
    std::vector<std::byte> bytes;
    append(bytes, std::as_bytes(std::span("GGUF", 4)));
    appendValue(bytes, std::uint32_t{3});
    appendValue(bytes, m_tensorCount);
    appendValue(bytes, m_entryCount);
    append(bytes, m_entries);
    append(bytes, m_tensors);
    bytes.resize(aligned(bytes.size()));
    return bytes;
}

}  // namespace firsttoken::engine
