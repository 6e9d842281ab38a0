#include <algorithm>
#include <cassert>

#include "engine/schedule/scheduler.h"

/// Who comes next, and whether there is room.
namespace firsttoken::engine {

namespace {
constexpr std::uint32_t mostPasses = 8;       // younger ones admitted in a row before the oldest goes first
constexpr std::size_t prefixesLookedUp = 64;  // oldest sequences that longest_prefix compares
constexpr std::uint32_t mostCandidates = 64;  // looked at in one step while others compute their prefix
constexpr std::uint32_t mostHeadroomDoublings = 6;
}  // namespace

/// Order of the queue but for ageing. A preempted sequence comes before those that never ran; under priority, before
/// those of its own priority.
bool Scheduler::comesBefore(const Sequence& a, const Sequence& b) const {
    if (m_config.policy == SchedulePolicy::Priority && a.priority != b.priority) return a.priority > b.priority;
    const bool aRan = a.preemptions > 0;
    const bool bRan = b.preemptions > 0;
    if (aRan != bRan) return aRan;
    if (!aRan && m_config.policy == SchedulePolicy::ShortestPrompt && a.promptTokens != b.promptTokens) {
        return a.promptTokens < b.promptTokens;
    }
    if (!aRan && m_config.policy == SchedulePolicy::LongestPrefix && a.prefixHint != b.prefixHint) {
        return a.prefixHint > b.prefixHint;
    }
    return a.arrivalOrder < b.arrivalOrder;
}

void Scheduler::refreshPrefixHints() {
    if (m_config.policy != SchedulePolicy::LongestPrefix || !m_config.kvCache) return;
    std::vector<Sequence*> oldest = m_queue;
    const std::size_t count = std::min(oldest.size(), prefixesLookedUp);
    std::partial_sort(oldest.begin(), oldest.begin() + static_cast<std::ptrdiff_t>(count), oldest.end(),
                      [](const Sequence* a, const Sequence* b) { return a->arrivalOrder < b->arrivalOrder; });
    const std::uint64_t version = m_cache.prefixVersion() + 1;  // 0: never looked up
    for (std::size_t i = 0; i < count; ++i) {
        if (oldest[i]->prefixHintVersion == version) continue;
        oldest[i]->prefixHint = m_cache.peekPrefix(oldest[i]->tokens, oldest[i]->nameSpace);
        oldest[i]->prefixHintVersion = version;
    }
}

Sequence* Scheduler::oldestQueued() const {
    const auto oldest = std::min_element(m_queue.begin(), m_queue.end(), [](const Sequence* a, const Sequence* b) {
        return a->arrivalOrder < b->arrivalOrder;
    });
    return oldest == m_queue.end() ? nullptr : *oldest;
}

/// The sequence to admit next; null if none should be. It alone: where it finds no room, nobody overtakes it.
Sequence* Scheduler::nextCandidate() const {
    if (m_queue.empty()) return nullptr;
    Sequence* oldest = oldestQueued();
    if (oldest->id == m_passedOver && m_passes >= mostPasses) return oldest;
    std::vector<Sequence*> order = m_queue;
    const auto later = [this](const Sequence* a, const Sequence* b) { return comesBefore(*b, *a); };
    std::make_heap(order.begin(), order.end(), later);
    for (std::uint32_t tried = 0; !order.empty() && tried < mostCandidates; ++tried) {
        std::pop_heap(order.begin(), order.end(), later);
        if (!prefixIsUnderway(*order.back())) return order.back();
        order.pop_back();
    }
    return nullptr;
}

// Another sequence is computing a prefix that this one shares: it waits for that, computes it not once more, and
// holds no memory meanwhile. It lets others pass.
bool Scheduler::prefixIsUnderway(const Sequence& sequence) const {
    if (!m_config.kvCache || !m_config.continuousBatching || !m_cache.publishes()) return false;
    const std::uint32_t block = m_cache.blockTokens();
    const auto mostShared = static_cast<std::ptrdiff_t>((sequence.tokens.size() - 1) / block * block);
    for (const Sequence* other : m_running) {
        if (other->state != RequestState::Prefilling || other->nameSpace != sequence.nameSpace) continue;
        const auto end = std::mismatch(sequence.tokens.begin(), sequence.tokens.begin() + mostShared,
                                       other->tokens.begin(), other->tokens.end());
        const auto shared = static_cast<std::uint32_t>(end.first - sequence.tokens.begin()) / block * block;
        if (shared <= other->computedTokens / block * block) continue;
        if (shared > m_cache.peekPrefix(sequence.tokens, sequence.nameSpace)) return true;
    }
    return false;
}

/// Blocks that it must be able to get at once: for all its tokens and the next one; after a preemption, for a block
/// of tokens more, lest it goes the same way again.
std::uint32_t Scheduler::demand(const Sequence& sequence, std::size_t group) const {
    const std::uint32_t block = m_cache.blockTokens();
    const auto known = static_cast<std::uint32_t>(sequence.tokens.size());
    const std::uint32_t length = std::min(known + (sequence.preemptions > 0 ? block : 1U), sequence.lastLength());
    const std::uint32_t chunk = mustBeWhole(sequence) ? known : std::min(sequence.remaining(), block);
    const std::uint32_t needed = m_cache.blocksNeeded(group, length, chunk);
    return needed - std::min(needed, sequence.blocks.held(group));
}

/// Blocks that a running sequence will still take: for its known tokens, and up to `headroom` more for its output.
std::uint32_t Scheduler::reserve(const Sequence& sequence, std::size_t group, std::uint32_t headroom) const {
    const auto known = std::min(static_cast<std::uint32_t>(sequence.tokens.size()), sequence.lastLength());
    const std::uint32_t now = std::max(m_cache.blocksNeeded(group, known, 1), sequence.blocks.held(group));
    const std::uint32_t end = std::max(m_cache.blocksNeeded(group, sequence.lastLength(), 1), now);
    return now - sequence.blocks.held(group) + std::min(end - now, headroom);
}

// The headroom doubles with each preemption of the sequence: one that was pushed out again and again comes back when
// the others need little more. Alone, it always has room: submit() saw to that.
bool Scheduler::hasRoom(const Sequence& sequence) const {
    if (m_running.empty()) return true;
    const std::uint32_t headroom = 1U << std::min(sequence.preemptions, mostHeadroomDoublings);
    for (std::size_t g = 0; g < m_cache.groups().size(); ++g) {
        std::uint64_t needed = demand(sequence, g);
        for (const Sequence* running : m_running) {
            if (needed > m_cache.freeable(g)) return false;
            needed += reserve(*running, g, headroom);
        }
        if (needed > m_cache.freeable(g)) return false;
    }
    return true;
}

/// Takes its cached prefix and the blocks of its first row; false, and nothing taken, if there is no room, or if its
/// first chunk must be longer than the `rows` that are left.
bool Scheduler::admit(Sequence& sequence, std::uint32_t rows) {
    const std::uint32_t hit =
        m_config.kvCache ? m_cache.matchPrefix(sequence.tokens, sequence.nameSpace, sequence.blocks) : 0;
    sequence.computedTokens = hit;
    const std::uint32_t least = leastRows(sequence);
    const bool canStart = least <= rows || !m_config.continuousBatching;
    if (!canStart || !hasRoom(sequence) || !m_cache.grow(sequence.blocks, hit + least)) {
        m_cache.release(sequence.blocks);
        sequence.computedTokens = 0;
        return false;
    }
    noteAdmission(sequence);
    if (sequence.preemptions == 0) sequence.cachedTokens = std::min(hit, sequence.promptTokens);
    sequence.state = RequestState::Prefilling;
    std::erase(m_queue, &sequence);
    m_running.push_back(&sequence);
    return true;
}

void Scheduler::noteAdmission(const Sequence& sequence) {
    const Sequence* oldest = oldestQueued();
    if (oldest == &sequence) {
        m_passes = 0;
        return;
    }
    m_passes = oldest->id == m_passedOver ? m_passes + 1 : 1;
    m_passedOver = oldest->id;
}

}  // namespace firsttoken::engine
