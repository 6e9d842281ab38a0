#include "engine/observe/event_ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

namespace firsttoken::engine {

static_assert(std::is_trivially_copyable_v<Event>, "events are copied word by word while they may be overwritten");
static_assert(sizeof(Event) % sizeof(std::uint64_t) == 0);

using Words = std::array<std::uint64_t, sizeof(Event) / sizeof(std::uint64_t)>;

/// A sequence lock without fences (ThreadSanitizer does not know them): the words are stored with release and
/// loaded with acquire, so that a reader that saw any word of a later event also sees that event's `state`.
struct EventRing::Slot {
    std::atomic<std::uint64_t> state{0};  ///< 0: never written; 2n + 1: event n being written; 2n + 2: event n
    std::array<std::atomic<std::uint64_t>, std::tuple_size_v<Words>> words{};
};

EventRing::EventRing(std::size_t capacity)
    : m_slots(std::make_unique<Slot[]>(std::bit_ceil(std::max<std::size_t>(capacity, 1)))),
      m_mask(std::bit_ceil(std::max<std::size_t>(capacity, 1)) - 1) {}

EventRing::~EventRing() = default;

void EventRing::push(const Event& event) {
    const std::uint64_t number = m_written.load(std::memory_order_relaxed);
    Slot& slot = m_slots[number & m_mask];
    const auto words = std::bit_cast<Words>(event);
    slot.state.store(2 * number + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < words.size(); ++i) slot.words[i].store(words[i], std::memory_order_release);
    slot.state.store(2 * number + 2, std::memory_order_release);
    m_written.store(number + 1, std::memory_order_release);
}

EventBatch EventRing::read(std::uint64_t from, std::size_t limit) const {
    const std::uint64_t capacity = m_mask + 1;
    const auto oldestKept = [&](std::uint64_t written) { return written > capacity ? written - capacity : 0; };
    const std::uint64_t written = m_written.load(std::memory_order_acquire);
    const std::uint64_t start = std::min(from, written);
    EventBatch batch;
    batch.events.reserve(std::min<std::uint64_t>(limit, written - std::max(start, oldestKept(written))));
    std::uint64_t number = std::max(start, oldestKept(written));
    while (number < written && batch.events.size() < limit) {
        const Slot& slot = m_slots[number & m_mask];
        const std::uint64_t complete = 2 * number + 2;
        Words words;
        bool whole = slot.state.load(std::memory_order_acquire) == complete;
        for (std::size_t i = 0; whole && i < words.size(); ++i) {
            words[i] = slot.words[i].load(std::memory_order_acquire);
        }
        whole = whole && slot.state.load(std::memory_order_relaxed) == complete;
        if (whole) {
            batch.events.push_back(std::bit_cast<Event>(words));
            ++number;
        } else {  // the writer has come round: go on with the oldest event that can still be there
            number = std::max(number + 1, std::min(written, oldestKept(this->written())));
        }
    }
    batch.next = number;
    batch.dropped = number - start - batch.events.size();
    return batch;
}

std::uint64_t EventRing::written() const { return m_written.load(std::memory_order_acquire); }

}  // namespace firsttoken::engine
