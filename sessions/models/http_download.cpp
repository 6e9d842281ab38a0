#include "sessions/models/http_download.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "sessions/models/files.h"

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::Status;
using nlohmann::json;

namespace {

constexpr long connectSeconds = 15;
constexpr long probeSeconds = 10;    ///< a server that needs longer to answer counts as unreachable
constexpr long stalledSeconds = 30;  ///< under stalledRate for so long: given up
constexpr long stalledRate = 1024;   ///< bytes per second
constexpr long mostRedirects = 8;
constexpr std::uint64_t diskReserve = 64ULL << 20;  ///< left free for others
constexpr std::size_t originLimit = 64U << 10;

using Handle = std::unique_ptr<CURL, void (*)(CURL*)>;
using HeaderList = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;

/// What lies beside a partial file: which file of which server it is a part of.
struct Origin {
    std::string address;
    std::string validator;  ///< a strong ETag or a Last-Modified date; empty: cannot be continued
};

std::string originPath(const std::string& target) { return target + ".origin"; }

Origin readOrigin(const std::string& target) {
    Origin origin;
    const auto text = readWholeFile(originPath(target), originLimit);
    if (!text) return origin;
    const auto value = json::parse(*text, nullptr, false);
    if (!value.is_object()) return origin;
    const auto field = [&](const char* key) {
        const auto found = value.find(key);
        return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    origin.address = field("address");
    origin.validator = field("validator");
    return origin;
}

std::uint64_t fileBytes(const std::string& path) {
    std::error_code fault;
    const auto size = std::filesystem::file_size(path, fault);
    return fault ? 0 : size;
}

void forget(const std::string& target) {
    std::error_code ignored;
    std::filesystem::remove(target, ignored);
    std::filesystem::remove(originPath(target), ignored);
}

std::optional<std::uint64_t> toNumber(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The headers of the last response (a redirect's are forgotten when the next response begins).
struct Headers {
    std::string etag;
    std::string lastModified;
    std::optional<std::uint64_t> length;
    std::optional<std::uint64_t> rangeStart;
    std::optional<std::uint64_t> rangeTotal;

    void add(std::string_view line) {
        while (!line.empty() && (line.back() == '\r' || line.back() == '\n' || line.back() == ' '))
            line.remove_suffix(1);
        if (line.starts_with("HTTP/")) {
            *this = {};
            return;
        }
        const auto colon = line.find(':');
        if (colon == line.npos) return;
        std::string name(line.substr(0, colon));
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        auto value = line.substr(colon + 1);
        while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
        if (name == "etag") etag = value;
        if (name == "last-modified") lastModified = value;
        if (name == "content-length") length = toNumber(value);
        if (name == "content-range") addRange(value);
    }
    /// RFC 9110: a weak ETag must not be used with If-Range.
    std::string validator() const { return etag.empty() || etag.starts_with("W/") ? lastModified : etag; }

private:
    /// "bytes 100-199/200"
    void addRange(std::string_view value) {
        const auto dash = value.find('-');
        const auto slash = value.find('/');
        if (!value.starts_with("bytes ") || dash == value.npos || slash == value.npos || dash > slash) return;
        rangeStart = toNumber(value.substr(6, dash - 6));
        rangeTotal = toNumber(value.substr(slash + 1));
    }
};

/// One transfer: receives what curl hands over, on the thread that calls curl_easy_perform.
class Transfer {
public:
    Transfer(const HttpDownload& what, std::uint64_t resumeFrom) : m_what(what), m_resumeFrom(resumeFrom) {}

    /// Errors: as downloadHttp; `restart()` says whether trying once more from the first byte may help.
    Result<std::uint64_t> run();
    bool restart() const { return m_restart; }

private:
    static std::size_t onHeader(char* bytes, std::size_t size, std::size_t count, void* self) {
        static_cast<Transfer*>(self)->m_headers.add({bytes, size * count});
        return size * count;
    }
    static std::size_t onBody(char* bytes, std::size_t size, std::size_t count, void* self) {
        return static_cast<Transfer*>(self)->take(bytes, size * count) ? size * count : 0;
    }
    static int onProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
        return static_cast<Transfer*>(self)->m_what.stop.stop_requested() ? 1 : 0;
    }
    bool take(const char* bytes, std::size_t count);
    bool begin();
    bool refuse(ErrorCode code, std::string message) {
        m_refused = Error{code, std::move(message)};
        return false;
    }
    Error explain(CURLcode code, long status) const;

    const HttpDownload& m_what;
    std::uint64_t m_resumeFrom;
    Headers m_headers;
    CURL* m_handle = nullptr;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> m_file{nullptr, std::fclose};
    std::uint64_t m_done = 0;
    std::uint64_t m_total = 0;  ///< 0: unknown
    bool m_restart = false;
    std::optional<Error> m_refused;
};

/// What every request of ours has in common.
void setCommonOptions(CURL* handle, const std::string& address, const std::string& protocols) {
    curl_easy_setopt(handle, CURLOPT_URL, address.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, protocols.c_str());
    curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, protocols.c_str());
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(handle, CURLOPT_MAXREDIRS, mostRedirects);
    curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, connectSeconds);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, stalledRate);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, stalledSeconds);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "firsttoken");
}

Error explainFailure(const std::string& address, CURLcode code, long status) {
    if (code == CURLE_HTTP_RETURNED_ERROR) {
        const bool absent = status == 404 || status == 410;
        return {absent ? ErrorCode::NotFound : ErrorCode::Io,
                fmt::format("the server answered {} for {}", status, address)};
    }
    if (code == CURLE_OPERATION_TIMEDOUT) return {ErrorCode::Io, fmt::format("{} stopped answering", address)};
    return {ErrorCode::Io, fmt::format("cannot reach {}: {}", address, curl_easy_strerror(code))};
}

bool Transfer::begin() {
    long status = 0;
    curl_easy_getinfo(m_handle, CURLINFO_RESPONSE_CODE, &status);
    const bool continues = status == 206;
    if (continues && m_headers.rangeStart != m_resumeFrom) {
        m_restart = true;
        return refuse(ErrorCode::Io, m_what.address + " sent another range than was asked for");
    }
    m_done = continues ? m_resumeFrom : 0;
    m_total = (continues ? m_headers.rangeTotal : m_headers.length).value_or(0);
    if (m_what.bytes && m_total != 0 && m_total != *m_what.bytes) {
        return refuse(ErrorCode::BadInput,
                      fmt::format("{} has {} bytes, the catalogue says {}", m_what.address, m_total, *m_what.bytes));
    }
    const auto folder = std::filesystem::path(m_what.target).parent_path().string();
    const auto expected = m_total != 0 ? m_total : m_what.bytes.value_or(0);
    const auto free = freeDiskBytes(folder);
    if (free && expected > m_done && *free < expected - m_done + diskReserve) {
        return refuse(ErrorCode::DoesNotFit, fmt::format("{} has {} bytes free, the download needs {}", folder, *free,
                                                         expected - m_done + diskReserve));
    }
    if (!continues) {
        const json origin = {{"address", m_what.address}, {"validator", m_headers.validator()}};
        const auto text = origin.dump(2, ' ', false, json::error_handler_t::replace);
        if (auto written = writeWholeFile(originPath(m_what.target), text); !written) {
            m_refused = written.error();
            return false;
        }
    }
    m_file.reset(std::fopen(m_what.target.c_str(), continues ? "abe" : "wbe"));
    if (m_file == nullptr) {
        return refuse(ErrorCode::Io, fmt::format("cannot write {}: {}", m_what.target, std::strerror(errno)));
    }
    return true;
}

bool Transfer::take(const char* bytes, std::size_t count) {
    if (m_file == nullptr && !begin()) return false;
    if (m_total != 0 && m_done + count > m_total) {
        m_restart = true;
        return refuse(ErrorCode::Io, m_what.address + " sent more than it announced");
    }
    if (std::fwrite(bytes, 1, count, m_file.get()) != count) {
        return refuse(ErrorCode::Io, fmt::format("cannot write {}: {}", m_what.target, std::strerror(errno)));
    }
    m_done += count;
    if (m_what.progress) m_what.progress(m_done, m_total != 0 ? m_total : m_what.bytes.value_or(0));
    return true;
}

Error Transfer::explain(CURLcode code, long status) const {
    if (m_what.stop.stop_requested()) return {ErrorCode::Cancelled, "stopped while fetching " + m_what.address};
    if (m_refused) return *m_refused;
    return explainFailure(m_what.address, code, status);
}

Result<std::uint64_t> Transfer::run() {
    const Handle handle(curl_easy_init(), curl_easy_cleanup);
    if (handle == nullptr) return Error{ErrorCode::Internal, "the HTTP library could not be started"};
    m_handle = handle.get();
    setCommonOptions(m_handle, m_what.address, m_what.protocols);
    HeaderList headers(nullptr, curl_slist_free_all);
    if (m_resumeFrom > 0) {
        const auto condition = "If-Range: " + readOrigin(m_what.target).validator;
        headers.reset(curl_slist_append(nullptr, condition.c_str()));
        curl_easy_setopt(m_handle, CURLOPT_HTTPHEADER, headers.get());
        curl_easy_setopt(m_handle, CURLOPT_RANGE, fmt::format("{}-", m_resumeFrom).c_str());
    }
    curl_easy_setopt(m_handle, CURLOPT_HEADERFUNCTION, &Transfer::onHeader);
    curl_easy_setopt(m_handle, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(m_handle, CURLOPT_WRITEFUNCTION, &Transfer::onBody);
    curl_easy_setopt(m_handle, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(m_handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(m_handle, CURLOPT_XFERINFOFUNCTION, &Transfer::onProgress);
    curl_easy_setopt(m_handle, CURLOPT_XFERINFODATA, this);
    const auto code = curl_easy_perform(m_handle);
    long status = 0;
    curl_easy_getinfo(m_handle, CURLINFO_RESPONSE_CODE, &status);

    if (m_file != nullptr && std::fclose(m_file.release()) != 0 && code == CURLE_OK) {
        return Error{ErrorCode::Io, fmt::format("cannot write {}: {}", m_what.target, std::strerror(errno))};
    }
    // 416: what lies here is as long as the server's file, or longer; only the first byte is a safe start.
    if (status == 416) m_restart = true;
    if (code != CURLE_OK) return explain(code, status);
    if (m_done == 0) return Error{ErrorCode::Io, m_what.address + " sent no bytes"};
    return m_done;
}

}  // namespace

Result<std::uint64_t> downloadHttp(const HttpDownload& what) {
    const auto origin = readOrigin(what.target);
    auto lying = fileBytes(what.target);
    if (origin.address != what.address || origin.validator.empty() || (what.bytes && lying > *what.bytes)) lying = 0;
    if (lying == 0) forget(what.target);
    if (what.bytes && lying == *what.bytes) return lying;

    Transfer first(what, lying);
    auto got = first.run();
    if (got || !first.restart()) return got;
    forget(what.target);
    Transfer second(what, 0);
    return second.run();
}

Status probeHttp(const std::string& address, const std::string& protocols, std::stop_token stop) {
    const Handle handle(curl_easy_init(), curl_easy_cleanup);
    if (handle == nullptr) return Error{ErrorCode::Internal, "the HTTP library could not be started"};
    setCommonOptions(handle.get(), address, protocols);
    curl_easy_setopt(handle.get(), CURLOPT_NOBODY, 1L);
    curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT, probeSeconds);
    curl_easy_setopt(handle.get(), CURLOPT_NOPROGRESS, 0L);
    const curl_xferinfo_callback stopped = [](void* token, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
        return static_cast<const std::stop_token*>(token)->stop_requested() ? 1 : 0;
    };
    curl_easy_setopt(handle.get(), CURLOPT_XFERINFOFUNCTION, stopped);
    curl_easy_setopt(handle.get(), CURLOPT_XFERINFODATA, &stop);
    const auto code = curl_easy_perform(handle.get());
    if (stop.stop_requested()) return Error{ErrorCode::Cancelled, "stopped while asking " + address};
    if (code == CURLE_OK) return Done{};
    long status = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    return explainFailure(address, code, status);
}

}  // namespace firsttoken::sessions
