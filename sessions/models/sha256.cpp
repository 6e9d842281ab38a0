#include "sessions/models/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

struct Sha256::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    bool good = context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1;

    State() = default;
    ~State() { EVP_MD_CTX_free(context); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
};

Sha256::Sha256() : m_state(std::make_unique<State>()) {}
Sha256::~Sha256() = default;

void Sha256::add(const void* bytes, std::size_t count) {
    m_state->good = m_state->good && EVP_DigestUpdate(m_state->context, bytes, count) == 1;
}

std::string Sha256::finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    if (!m_state->good || EVP_DigestFinal_ex(m_state->context, digest.data(), &length) != 1) return {};
    m_state->good = false;
    std::string hex;
    for (unsigned i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
    return hex;
}

Result<std::string> sha256OfFile(const std::string& path, std::stop_token stop) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
    if (file == nullptr) {
        return Error{ErrorCode::Io, fmt::format("cannot read {}: {}", path, std::strerror(errno))};
    }
    Sha256 hash;
    std::vector<char> block(1U << 20);
    while (const auto count = std::fread(block.data(), 1, block.size(), file.get())) {
        if (stop.stop_requested()) return Error{ErrorCode::Cancelled, "stopped while checking " + path};
        hash.add(block.data(), count);
    }
    if (std::ferror(file.get()) != 0) return Error{ErrorCode::Io, "cannot read " + path + " to its end"};
    auto hex = hash.finish();
    if (hex.empty()) return Error{ErrorCode::Internal, "the SHA-256 of " + path + " could not be computed"};
    return hex;
}

}  // namespace firsttoken::sessions
