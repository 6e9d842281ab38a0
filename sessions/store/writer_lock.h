#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "engine/result.h"

namespace firsttoken::sessions {

/// The right to write a database: an exclusive lock on the file PATH-lock beside it, which holds the process id of
/// who has it. The system frees it when the process ends, however it ends. So whoever gets it knows that no other
/// program is writing, and that what is still marked Running was left by a crash.
class WriterLock {
public:
    WriterLock() = default;
    ~WriterLock() { release(); }
    WriterLock(WriterLock&& other) noexcept : m_descriptor(std::exchange(other.m_descriptor, -1)) {}
    WriterLock& operator=(WriterLock&& other) noexcept {
        std::swap(m_descriptor, other.m_descriptor);
        return *this;
    }

    /// Tries for `patience`: others hold it for moments only while they change a title. Errors: Rejected (another
    /// program is writing, with its process id), Io (the folder cannot be written).
    static engine::Result<WriterLock> acquire(const std::string& databasePath, std::chrono::milliseconds patience);

    bool held() const { return m_descriptor >= 0; }
    void release();

private:
    explicit WriterLock(int descriptor) : m_descriptor(descriptor) {}
    int m_descriptor = -1;
};

}  // namespace firsttoken::sessions
