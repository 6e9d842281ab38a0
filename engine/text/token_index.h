#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/text.h"

namespace firsttoken::engine {

/// Text → id over texts that live elsewhere (a mapped file): one open-addressing table, no copies. Of equal texts
/// the first one counts. Immutable after creation: any thread.
class TokenIndex {
public:
    TokenIndex() = default;
    /// `texts` must outlive the index. Texts for which `wanted` is false, and empty ones, are left out.
    template <class Wanted>
    TokenIndex(std::span<const std::string_view> texts, Wanted wanted) : m_texts(texts) {
        reserve(texts.size());
        for (std::size_t id = 0; id < texts.size(); ++id) {
            if (!texts[id].empty() && wanted(static_cast<TokenId>(id))) insert(static_cast<TokenId>(id));
        }
    }

    std::optional<TokenId> find(std::string_view text) const;

private:
    struct Slot {
        std::uint32_t hash = 0;
        TokenId id = -1;  ///< -1: free
    };
    void reserve(std::size_t count);
    void insert(TokenId id);

    std::span<const std::string_view> m_texts;
    std::vector<Slot> m_slots;  ///< a power of two
};

}  // namespace firsttoken::engine
