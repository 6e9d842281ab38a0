#include "engine/text/token_index.h"

#include <bit>
#include <functional>

namespace firsttoken::engine {

namespace {

std::uint32_t hashOf(std::string_view text) {
    const std::uint64_t hash = std::hash<std::string_view>{}(text);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

}  // namespace

void TokenIndex::reserve(std::size_t count) { m_slots.resize(std::bit_ceil(2 * count + 1)); }

void TokenIndex::insert(TokenId id) {
    const std::string_view text = m_texts[static_cast<std::size_t>(id)];
    const std::uint32_t hash = hashOf(text);
    const std::size_t mask = m_slots.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        Slot& slot = m_slots[at];
        if (slot.id < 0) {
            slot = {hash, id};
            return;
        }
        if (slot.hash == hash && m_texts[static_cast<std::size_t>(slot.id)] == text) return;
    }
}

std::optional<TokenId> TokenIndex::find(std::string_view text) const {
    if (m_slots.empty()) return std::nullopt;
    const std::uint32_t hash = hashOf(text);
    const std::size_t mask = m_slots.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        const Slot& slot = m_slots[at];
        if (slot.id < 0) return std::nullopt;
        if (slot.hash == hash && m_texts[static_cast<std::size_t>(slot.id)] == text) return slot.id;
    }
}

}  // namespace firsttoken::engine
