#include "engine/model/gguf_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace firsttoken::engine {

namespace {

constexpr std::uint64_t maxKeyBytes = 65535;
constexpr std::uint64_t maxTensorNameBytes = 63;
constexpr std::uint64_t maxArrayElements = std::uint64_t{1} << 30;
constexpr std::uint64_t maxBytes = std::uint64_t{1} << 62;
// Least sizes of the records, by which their counts are judged before anything is reserved.
constexpr std::int64_t leastEntryBytes = 8 + 1 + 4 + 1;
constexpr std::int64_t leastTensorBytes = 8 + 1 + 4 + 4 + 8;

/// a * b, or nothing where it leaves 0 … 2^62.
std::optional<std::uint64_t> checkedProduct(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) || product > maxBytes) return std::nullopt;
    return product;
}

/// Sorts indices by name; the index of a name that stands twice, or the count.
template <class Item, class Name>
std::size_t sortByName(const std::vector<Item>& items, std::vector<std::size_t>& order, Name name) {
    order.resize(items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return name(items[a]) < name(items[b]); });
    const auto twice = std::adjacent_find(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return name(items[a]) == name(items[b]); });
    return twice == order.end() ? items.size() : *twice;
}

}  // namespace

GgufParser::Fault GgufParser::parse() {
    if (auto wrong = header()) return wrong;
    for (std::int64_t i = 0; i < m_entryCount; ++i) {
        if (auto wrong = record(static_cast<std::uint64_t>(i))) return wrong;
    }
    for (std::int64_t i = 0; i < m_tensorCount; ++i) {
        if (auto wrong = tensor(static_cast<std::uint64_t>(i))) return wrong;
    }
    if (auto wrong = sortNames()) return wrong;
    if (auto wrong = alignment()) return wrong;
    return placeTensors();
}

GgufParser::Fault GgufParser::header() {
    std::span<const std::byte> magic;
    if (!m_cursor.take(4, magic)) return fault("is too short to be a GGUF file");
    if (asText(magic) != "GGUF") return fault("is not a GGUF file (it does not begin with \"GGUF\")");
    if (!m_cursor.read(m_file.m_version)) return truncated("the header");
    if ((m_file.m_version & 0xFFFFU) == 0 && m_file.m_version != 0) {
        return m_file.fault("is a GGUF file of the other byte order (big-endian), which is not supported",
                            ErrorCode::Unsupported);
    }
    if (m_file.m_version != 2 && m_file.m_version != 3) {
        return m_file.fault(fmt::format("has GGUF version {}; versions 2 and 3 are supported", m_file.m_version),
                            ErrorCode::Unsupported);
    }
    if (!m_cursor.read(m_tensorCount) || !m_cursor.read(m_entryCount)) return truncated("the header");
    const auto left = static_cast<std::int64_t>(m_cursor.left());
    if (m_entryCount < 0 || m_entryCount > left / leastEntryBytes) {
        return fault(fmt::format("claims {} metadata records, which cannot fit in it", m_entryCount));
    }
    if (m_tensorCount < 0 || m_tensorCount > left / leastTensorBytes) {
        return fault(fmt::format("claims {} tensors, which cannot fit in it", m_tensorCount));
    }
    return std::nullopt;
}

GgufParser::Fault GgufParser::record(std::uint64_t index) {
    GgufEntry entry;
    const std::string what = fmt::format("metadata record {}", index + 1);
    std::uint64_t length = 0;
    std::span<const std::byte> key;
    if (!m_cursor.read(length)) return truncated(what);
    if (length == 0) return fault(what + " has an empty key");
    if (length > maxKeyBytes) return fault(fmt::format("{} has a key of {} bytes", what, length));
    if (!m_cursor.take(length, key)) return truncated("the key of " + what);
    entry.key = asText(key);

    std::int32_t type = 0;
    if (!m_cursor.read(type)) return truncated(what);
    if (type < 0 || type > static_cast<std::int32_t>(GgufType::F64)) {
        return fault(fmt::format("the key '{}' has the unknown value type {}", printableName(entry.key), type));
    }
    entry.type = static_cast<GgufType>(type);
    if (auto wrong = value(entry)) return wrong;
    m_file.m_entries.push_back(entry);
    return std::nullopt;
}

GgufParser::Fault GgufParser::value(GgufEntry& entry) {
    if (entry.type == GgufType::Array) return array(entry);
    std::uint64_t bytes = ggufTypeBytes(entry.type);
    if (entry.type == GgufType::String && !m_cursor.read(bytes)) {
        return truncated(fmt::format("the value of '{}'", printableName(entry.key)));
    }
    if (!m_cursor.take(bytes, entry.value)) {
        return truncated(fmt::format("the value of '{}' ({} bytes)", printableName(entry.key), bytes));
    }
    return std::nullopt;
}

GgufParser::Fault GgufParser::array(GgufEntry& entry) {
    std::int32_t type = 0;
    if (!m_cursor.read(type) || !m_cursor.read(entry.count)) {
        return truncated(fmt::format("the array '{}'", printableName(entry.key)));
    }
    if (type < 0 || type > static_cast<std::int32_t>(GgufType::F64) || type == static_cast<int>(GgufType::Array)) {
        return fault(fmt::format("the array '{}' has elements of type {}, which arrays cannot hold",
                                 printableName(entry.key), type));
    }
    entry.elementType = static_cast<GgufType>(type);
    const std::uint64_t least = entry.elementType == GgufType::String ? 8 : ggufTypeBytes(entry.elementType);
    // Both factors are small enough here for the product not to wrap.
    if (entry.count > maxArrayElements || entry.count * least > m_cursor.left()) {
        return fault(fmt::format("the array '{}' claims {} elements, which cannot fit in the file",
                                 printableName(entry.key), entry.count));
    }
    if (entry.elementType == GgufType::String) return skipStrings(entry.key, entry.count, entry.value);
    m_cursor.take(entry.count * least, entry.value);
    return std::nullopt;
}

GgufParser::Fault GgufParser::skipStrings(std::string_view key, std::uint64_t count,
                                          std::span<const std::byte>& value) {
    ByteCursor ahead = m_cursor;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t length = 0;
        std::span<const std::byte> text;
        if (!ahead.read(length) || !ahead.take(length, text)) {
            return truncated(fmt::format("element {} of the array '{}'", i, printableName(key)));
        }
    }
    m_cursor.take(ahead.position() - m_cursor.position(), value);
    return std::nullopt;
}

GgufParser::Fault GgufParser::tensor(std::uint64_t index) {
    GgufTensor tensor;
    const std::string what = fmt::format("tensor record {}", index + 1);
    std::uint64_t length = 0;
    std::span<const std::byte> name;
    if (!m_cursor.read(length)) return truncated(what);
    if (length == 0 || length > maxTensorNameBytes) {
        return fault(fmt::format("{} has a name of {} bytes (1 to {} are possible)", what, length, maxTensorNameBytes));
    }
    if (!m_cursor.take(length, name)) return truncated("the name of " + what);
    tensor.name = asText(name);
    if (auto wrong = tensorShape(tensor)) return wrong;

    std::int32_t type = 0;
    if (!m_cursor.read(type) || !m_cursor.read(tensor.offset)) {
        return truncated(fmt::format("the record of tensor '{}'", printableName(tensor.name)));
    }
    const auto known = ggufTensorType(type);
    if (!known) {
        return fault(fmt::format("tensor '{}' has the unknown type {}", printableName(tensor.name), type));
    }
    tensor.type = *known;
    m_file.m_tensors.push_back(tensor);
    return std::nullopt;
}

GgufParser::Fault GgufParser::tensorShape(GgufTensor& tensor) {
    if (!m_cursor.read(tensor.dimensions)) {
        return truncated(fmt::format("the record of tensor '{}'", printableName(tensor.name)));
    }
    if (tensor.dimensions > 4) {
        return fault(fmt::format("tensor '{}' claims {} dimensions; at most 4 are possible", printableName(tensor.name),
                                 tensor.dimensions));
    }
    bool empty = false;
    for (std::uint32_t d = 0; d < tensor.dimensions; ++d) {
        std::int64_t size = 0;
        if (!m_cursor.read(size)) return truncated(fmt::format("the shape of tensor '{}'", printableName(tensor.name)));
        if (size < 0) {
            return fault(fmt::format("tensor '{}' has the negative dimension {}", printableName(tensor.name), size));
        }
        tensor.shape[d] = static_cast<std::uint64_t>(size);
        empty = empty || size == 0;
    }
    // Without the zeros, so that a dimension of 0 hides no overflow of the others.
    std::uint64_t product = 1;
    for (const std::uint64_t size : tensor.shape) {
        const auto next = checkedProduct(product, std::max<std::uint64_t>(size, 1));
        if (!next) {
            return fault(fmt::format("tensor '{}' of shape {} has more elements than can be counted",
                                     printableName(tensor.name), shapeText(tensor)));
        }
        product = *next;
    }
    tensor.elements = empty ? 0 : product;
    return std::nullopt;
}

GgufParser::Fault GgufParser::sortNames() {
    const auto& entries = m_file.m_entries;
    const auto& tensors = m_file.m_tensors;
    const std::size_t entry = sortByName(entries, m_file.m_entryOrder, [](const auto& e) { return e.key; });
    if (entry < entries.size()) {
        return fault(fmt::format("the key '{}' stands in it twice", printableName(entries[entry].key)));
    }
    const std::size_t tensor = sortByName(tensors, m_file.m_tensorOrder, [](const auto& t) { return t.name; });
    if (tensor < tensors.size()) {
        return fault(fmt::format("tensor '{}' stands in it twice", printableName(tensors[tensor].name)));
    }
    return std::nullopt;
}

GgufParser::Fault GgufParser::alignment() {
    const GgufEntry* entry = m_file.entry("general.alignment");
    if (entry == nullptr) return std::nullopt;
    if (entry->type != GgufType::U32) {
        return fault(fmt::format("the key 'general.alignment' has type {}, not u32", toString(entry->type)));
    }
    const auto alignment = readValue<std::uint32_t>(entry->value.data());
    if (!std::has_single_bit(alignment)) {
        return fault(fmt::format("the key 'general.alignment' is {}, which is no power of two", alignment));
    }
    m_file.m_alignment = alignment;
    return std::nullopt;
}

GgufParser::Fault GgufParser::placeTensors() {
    const auto bytes = m_file.m_file->bytes();
    const std::uint64_t mask = m_file.m_alignment - 1;
    const std::uint64_t dataStart = (m_cursor.position() + mask) & ~mask;
    std::uint64_t expected = 0;  // of the data section; stays below 2^63, as each size and the padding are bounded
    for (GgufTensor& tensor : m_file.m_tensors) {
        const std::string name = printableName(tensor.name);
        if (tensor.shape[0] % tensor.type.blockElements != 0) {
            return fault(
                fmt::format("tensor '{}' of shape {} has rows that are no whole number of {} blocks ({} elements)",
                            name, shapeText(tensor), tensor.type.name, tensor.type.blockElements));
        }
        const auto size = checkedProduct(tensor.elements / tensor.type.blockElements, tensor.type.blockBytes);
        if (!size) return fault(fmt::format("tensor '{}' has more bytes than can be counted", name));
        if (tensor.offset != expected) {
            return fault(
                fmt::format("tensor '{}' lies at offset {} of the data, not at {} where the one before it ends", name,
                            tensor.offset, expected));
        }
        const std::uint64_t start = dataStart + expected;
        if (*size > 0 && (start > bytes.size() || *size > bytes.size() - start)) {
            return fault(fmt::format("is truncated: tensor '{}' ends at byte {} of a file of {}", name, start + *size,
                                     bytes.size()));
        }
        tensor.offset = start;
        if (*size > 0) tensor.bytes = bytes.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(*size));
        expected += (*size + mask) & ~mask;
    }
    return std::nullopt;
}

GgufParser::Fault GgufParser::truncated(const std::string& what) const {
    return fault(fmt::format("is truncated: it ends within {} (at byte {} of {})", what, m_cursor.position(),
                             m_file.m_file->bytes().size()));
}

}  // namespace firsttoken::engine
