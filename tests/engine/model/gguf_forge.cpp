#include "tests/engine/model/gguf_forge.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "engine/model/gguf_file.h"

namespace firsttoken::tests {

namespace {

Bytes asBytes(std::span<const std::byte> bytes) {
    return Bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void pad(Bytes& bytes, std::uint64_t alignment) {
    while (bytes.size() % alignment != 0) bytes += '\0';
}

}  // namespace

Bytes text(const std::string& characters) { return raw(std::uint64_t{characters.size()}) + characters; }

Bytes array(std::int32_t elementType, std::uint64_t count, const Bytes& elements) {
    return raw(elementType) + raw(count) + elements;
}

ForgedFile ForgedFile::read(const std::string& path) {
    const auto file = engine::GgufFile::open(path);
    if (!file) throw std::runtime_error(file.error().message);
    ForgedFile forged;
    for (const engine::GgufEntry& entry : file->entries()) {
        Bytes value = asBytes(entry.value);
        if (entry.type == engine::GgufType::String) value = text(value);
        if (entry.type == engine::GgufType::Array) {
            value = array(static_cast<std::int32_t>(entry.elementType), entry.count, value);
        }
        forged.entries.push_back({std::string(entry.key), static_cast<std::int32_t>(entry.type), value});
    }
    for (const engine::GgufTensor& tensor : file->tensors()) {
        Tensor copy;
        copy.name = tensor.name;
        copy.type = tensor.type.id;
        copy.data = asBytes(tensor.bytes);
        for (std::uint32_t d = 0; d < tensor.dimensions; ++d) {
            copy.shape.push_back(static_cast<std::int64_t>(tensor.shape[d]));
        }
        forged.tensors.push_back(std::move(copy));
    }
    return forged;
}

Bytes ForgedFile::data() const {
    Bytes data;
    for (const Tensor& tensor : tensors) {
        data += tensor.data;
        pad(data, alignment);
    }
    return data;
}

Bytes ForgedFile::head() const {
    Bytes result = "GGUF" + raw(version) + raw(tensorCount.value_or(static_cast<std::int64_t>(tensors.size()))) +
                   raw(entryCount.value_or(static_cast<std::int64_t>(entries.size())));
    for (const Entry& entry : entries) result += text(entry.key) + raw(entry.type) + entry.value;
    std::uint64_t offset = 0;
    for (const Tensor& tensor : tensors) {
        result += text(tensor.name);
        result += raw(tensor.dimensions.value_or(static_cast<std::uint32_t>(tensor.shape.size())));
        for (const std::int64_t size : tensor.shape) result += raw(size);
        result += raw(tensor.type) + raw(tensor.offset.value_or(offset));
        offset = (offset + tensor.data.size() + alignment - 1) / alignment * alignment;
    }
    if (!tensors.empty()) pad(result, alignment);
    return result;
}

ForgedFile::Entry* ForgedFile::entry(const std::string& key) {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
    return found == entries.end() ? nullptr : &*found;
}

ForgedFile::Tensor* ForgedFile::tensor(const std::string& name) {
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
    return found == tensors.end() ? nullptr : &*found;
}

void ForgedFile::remove(const std::string& keyOrTensor) {
    std::erase_if(entries, [&](const Entry& e) { return e.key == keyOrTensor; });
    std::erase_if(tensors, [&](const Tensor& t) { return t.name == keyOrTensor; });
}

void ForgedFile::set(const std::string& key, std::int32_t type, const Bytes& value) {
    if (Entry* found = entry(key)) {
        *found = {key, type, value};
    } else {
        entries.push_back({key, type, value});
    }
}

TestFolder::TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "firsttoken-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for the test");
    m_path = pattern;
}

TestFolder::~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

std::string TestFolder::write(const std::string& name, const Bytes& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
}

std::string TestFolder::writeHollow(const std::string& name, const ForgedFile& file) const {
    const Bytes head = file.head();
    write(name, head);
    std::filesystem::resize_file(path(name), head.size() + file.data().size());
    return path(name);
}

std::vector<std::string> TestFolder::names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(m_path)) {
        found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
}

Bytes readBytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

PatchedFile::PatchedFile(std::string path, const Bytes& bytes) : m_path(std::move(path)), m_bytes(bytes) {
    std::ofstream(m_path, std::ios::binary) << bytes;
}

void PatchedFile::change(std::size_t offset, char value) {
    std::fstream file(m_path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(value);
    m_changed.push_back(offset);
}

void PatchedFile::restore() {
    for (const std::size_t offset : std::exchange(m_changed, {})) change(offset, m_bytes[offset]);
    m_changed.clear();
}

}  // namespace firsttoken::tests
