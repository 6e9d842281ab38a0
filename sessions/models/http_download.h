#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/result.h"

/// One file over HTTPS, with resume. Blocking: runs on the caller's thread.
namespace firsttoken::sessions {

struct HttpDownload {
    std::string address;
    /// Where the bytes go. What an interrupted download left there is continued, if the server still has the same
    /// file: `target`.origin keeps its validator (ETag or date), which If-Range sends.
    std::string target;
    std::optional<std::uint64_t> bytes;  ///< expected; another size of the server's is an error
    std::string protocols = "https";     ///< also of redirects
    std::stop_token stop;
    std::function<void(std::uint64_t done, std::uint64_t total)> progress;  ///< total 0: unknown
};

/// Returns the bytes that lie in `target` now: the whole file.
/// Errors: NotFound (the server has no such file), Io (network, disk; what came is kept), BadInput (another size),
/// DoesNotFit (disk space, with the numbers), Cancelled (what came is kept).
engine::Result<std::uint64_t> downloadHttp(const HttpDownload& what);

/// Asks for the headers only. Errors as downloadHttp.
engine::Status probeHttp(const std::string& address, const std::string& protocols, std::stop_token stop);

}  // namespace firsttoken::sessions
