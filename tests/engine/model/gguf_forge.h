#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace firsttoken::tests {

using Bytes = std::string;

/// Little-endian bytes of a number.
template <class T>
Bytes raw(T value) {
    return Bytes(reinterpret_cast<const char*>(&value), sizeof value);
}
/// A string as GGUF stores it: length, characters.
Bytes text(const std::string& characters);
/// An array's value: element type, count, elements.
Bytes array(std::int32_t elementType, std::uint64_t count, const Bytes& elements);

/// A GGUF file in pieces, each of which may lie. Nothing is checked.
struct ForgedFile {
    struct Entry {
        std::string key;
        std::int32_t type = 0;
        Bytes value;  ///< as stored after the type
    };
    struct Tensor {
        std::string name;
        std::vector<std::int64_t> shape;
        std::int32_t type = 0;
        Bytes data;
        std::optional<std::uint64_t> offset;      ///< none: where it belongs
        std::optional<std::uint32_t> dimensions;  ///< none: shape.size()
    };

    std::uint32_t version = 3;
    std::optional<std::int64_t> entryCount;  ///< none: entries.size()
    std::optional<std::int64_t> tensorCount;
    std::vector<Entry> entries;
    std::vector<Tensor> tensors;
    std::uint64_t alignment = 32;  ///< of the data as laid out; says nothing to the reader

    /// Takes a good file apart.
    static ForgedFile read(const std::string& path);

    Bytes bytes() const { return head() + data(); }
    Bytes head() const;
    Bytes data() const;
    Entry* entry(const std::string& key);
    Tensor* tensor(const std::string& name);
    void remove(const std::string& keyOrTensor);
    void set(const std::string& key, std::int32_t type, const Bytes& value);
};

/// A folder for one test, removed with its content.
class TestFolder {
public:
    TestFolder();
    ~TestFolder();
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;

    std::string path(const std::string& name) const { return m_path + "/" + name; }
    /// Writes the bytes to a file of this folder; returns its path.
    std::string write(const std::string& name, const Bytes& bytes) const;
    /// The same with zeros for the tensors' data: sparse, so that thousands of files cost little.
    std::string writeHollow(const std::string& name, const ForgedFile& file) const;
    std::vector<std::string> names() const;

private:
    std::string m_path;
};

Bytes readBytes(const std::string& path);

/// A copy of a file in which bytes are changed and put back, instead of writing it anew each time.
class PatchedFile {
public:
    PatchedFile(std::string path, const Bytes& bytes);
    const std::string& path() const { return m_path; }
    void change(std::size_t offset, char value);
    void restore();

private:
    std::string m_path;
    Bytes m_bytes;
    std::vector<std::size_t> m_changed;
};

}  // namespace firsttoken::tests
