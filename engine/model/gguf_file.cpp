#include "engine/model/gguf_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/gguf_parser.h"

namespace firsttoken::engine {

Result<GgufFile> GgufFile::open(const std::string& path) {
    auto mapped = MappedFile::open(path);
    if (!mapped) return mapped.error();
    GgufFile file;
    file.m_path = path;
    file.m_file = std::move(*mapped);
    if (auto wrong = GgufParser(file).parse()) return *wrong;
    return file;
}

const GgufEntry* GgufFile::entry(std::string_view key) const {
    const auto found = std::lower_bound(m_entryOrder.begin(), m_entryOrder.end(), key,
                                        [this](std::size_t i, std::string_view k) { return m_entries[i].key < k; });
    if (found == m_entryOrder.end() || m_entries[*found].key != key) return nullptr;
    return &m_entries[*found];
}

const GgufTensor* GgufFile::tensor(std::string_view name) const {
    const auto found = std::lower_bound(m_tensorOrder.begin(), m_tensorOrder.end(), name,
                                        [this](std::size_t i, std::string_view n) { return m_tensors[i].name < n; });
    if (found == m_tensorOrder.end() || m_tensors[*found].name != name) return nullptr;
    return &m_tensors[*found];
}

Result<WeightFormat> GgufFile::requireFormat(const GgufTensor& tensor) const {
    if (const auto format = tensor.format()) return *format;
    std::string supported;
    for (const WeightFormat format : allFormats()) {
        if (!supported.empty()) supported += ", ";
        supported += traits(format).name;
    }
    return fault(fmt::format("tensor '{}' has the format {}, which is not supported (supported: {})",
                             printableName(tensor.name), tensor.type.name, supported),
                 ErrorCode::Unsupported);
}

Error GgufFile::fault(std::string_view sentence, ErrorCode code) const {
    return {code, fmt::format("{}: {}", m_path, sentence)};
}

std::string printableName(std::string_view name) {
    constexpr std::size_t most = 80;
    std::string text;
    for (const char c : name.substr(0, most)) {
        if (c >= ' ' && c <= '~') {
            text += c;
        } else {
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
    if (name.size() > most) text += "…";
    return text;
}

std::string shapeText(const GgufTensor& tensor) {
    std::string text = "{";
    for (std::uint32_t d = 0; d < tensor.dimensions; ++d) {
        text += fmt::format("{}{}", d == 0 ? "" : ", ", tensor.shape[d]);
    }
    return text + "}";
}

}  // namespace firsttoken::engine
