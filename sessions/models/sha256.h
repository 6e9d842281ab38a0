#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>

#include "engine/result.h"

namespace firsttoken::sessions {

/// SHA-256 of bytes as they come. Owned by one thread.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    void add(const void* bytes, std::size_t count);
    /// 64 lower-case hexadecimal digits; once, after the last add(). Empty if the library failed.
    std::string finish();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// Errors: Io, Cancelled.
engine::Result<std::string> sha256OfFile(const std::string& path, std::stop_token stop);

}  // namespace firsttoken::sessions
