#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "engine/result.h"

namespace firsttoken::engine {

/// A regular file mapped read-only; unmapped with the last owner. Immutable: any thread.
class MappedFile {
public:
    /// Errors: NotFound, or Io with the system's reason; BadInput for what is no regular file.
    static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return m_bytes; }
    /// Brings the pages of a part into memory, where they fit; otherwise only tells the system that they will be read.
    /// False if the file cannot be read there (it shrank, or the disk failed). Pre: the part lies in the file.
    bool bringIn(std::size_t offset, std::size_t length) const;

private:
    explicit MappedFile(std::span<const std::byte> bytes) : m_bytes(bytes) {}
    std::span<const std::byte> m_bytes;
};

}  // namespace firsttoken::engine
