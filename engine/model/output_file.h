#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/result.h"

namespace firsttoken::engine {

/// A file that appears under its name only when it is whole: written beside it, renamed by commit(), and removed if
/// commit() never comes. writeAt() may be called by several threads at once.
class OutputFile {
public:
    /// Errors: BadInput if `path` is something else than a regular file or a new one, Io with the system's reason.
    static Result<OutputFile> create(const std::string& path);
    ~OutputFile();
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Name under which it lies until commit().
    const std::string& temporaryPath() const { return m_temporary; }
    Status writeAt(std::uint64_t offset, std::span<const std::byte> bytes) const;
    /// Sets the size: a padded end, and disk space that is missing shows before the work.
    Status reserve(std::uint64_t bytes) const;
    Status commit();

private:
    OutputFile(std::string path, std::string temporary, int descriptor)
        : m_path(std::move(path)), m_temporary(std::move(temporary)), m_descriptor(descriptor) {}
    Error writeError(int number) const;

    std::string m_path;
    std::string m_temporary;
    int m_descriptor = -1;
};

}  // namespace firsttoken::engine
