#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/events.h"

namespace firsttoken::engine {

/// Bounded ring of events: one writer (the engine loop), any number of readers. The writer never waits: the oldest
/// event is overwritten, and a reader that was too slow learns how many it missed.
class EventRing {
public:
    /// `capacity`: a power of two.
    explicit EventRing(std::size_t capacity = 1U << 16);
    ~EventRing();
    EventRing(const EventRing&) = delete;
    EventRing& operator=(const EventRing&) = delete;

    /// Writer's thread only.
    void push(const Event& event);
    /// Any thread. Events from sequence number `from` on, at most `limit`.
    EventBatch read(std::uint64_t from, std::size_t limit = 1U << 16) const;
    /// Events pushed so far.
    std::uint64_t written() const;

private:
    struct Slot;
    std::unique_ptr<Slot[]> m_slots;
    std::size_t m_mask;
    std::atomic<std::uint64_t> m_written{0};
};

}  // namespace firsttoken::engine
