#include "engine/model/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace firsttoken::engine {

namespace {

Error systemError(const std::string& path, int number) {
    const auto code = number == ENOENT || number == ENOTDIR ? ErrorCode::NotFound : ErrorCode::Io;
    return {code, fmt::format("{}: cannot be opened: {}", path, std::generic_category().message(number))};
}

struct Descriptor {
    int number = -1;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
    // Non-blocking: a named pipe must not hold the caller until somebody writes to it.
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (file.number < 0) return systemError(path, errno);
    struct stat facts {};
    if (::fstat(file.number, &facts) != 0) return systemError(path, errno);
    if (!S_ISREG(facts.st_mode)) return Error{ErrorCode::BadInput, fmt::format("{}: is not a regular file", path)};

    const auto size = static_cast<std::size_t>(facts.st_size);
    std::span<const std::byte> bytes;
    if (size > 0) {
        void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
        if (address == MAP_FAILED) return systemError(path, errno);
        bytes = {static_cast<const std::byte*>(address), size};
    }
    return std::shared_ptr<const MappedFile>(new MappedFile(bytes));
}

MappedFile::~MappedFile() {
    if (!m_bytes.empty()) ::munmap(const_cast<std::byte*>(m_bytes.data()), m_bytes.size());
}

bool MappedFile::bringIn(std::size_t offset, std::size_t length) const {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto memory = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * page;
    const std::size_t start = offset / page * page;
    void* address = const_cast<std::byte*>(m_bytes.data()) + start;
    const std::size_t bytes = offset + length - start;
    // Populating fails cleanly where touching the pages would end the process. Kernels before 5.14 do not know it.
    if (m_bytes.size() < memory) {
        if (::madvise(address, bytes, MADV_POPULATE_READ) == 0) return true;
        if (errno == EFAULT || errno == EIO) return false;
    }
    (void)::madvise(address, bytes, MADV_WILLNEED);
    return true;
}

}  // namespace firsttoken::engine
