#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace firsttoken::engine {

/// The symbols of a text while neighbours are being joined: a doubly linked list in one array.
class SymbolChain {
public:
    static constexpr std::int32_t none = -1;

    struct Symbol {
        std::int32_t previous = none;
        std::int32_t next = none;
        std::uint32_t start = 0;   ///< in bytes
        std::uint32_t length = 0;  ///< 0: joined to the one before
        std::int32_t id = none;    ///< the caller's number of its text
    };

    void clear() { m_symbols.clear(); }
    void append(std::uint32_t start, std::uint32_t length, std::int32_t id) {
        const auto index = static_cast<std::int32_t>(m_symbols.size());
        if (index > 0) m_symbols.back().next = index;
        m_symbols.push_back({index - 1, none, start, length, id});
    }
    std::size_t size() const { return m_symbols.size(); }
    const Symbol& operator[](std::int32_t index) const { return m_symbols[static_cast<std::size_t>(index)]; }

    /// Joins the symbol and its right neighbour; the result has number `id`.
    void joinWithNext(std::int32_t index, std::int32_t id) {
        Symbol& left = m_symbols[static_cast<std::size_t>(index)];
        Symbol& right = m_symbols[static_cast<std::size_t>(left.next)];
        left.length += right.length;
        left.id = id;
        left.next = right.next;
        right.length = 0;
        if (left.next != none) m_symbols[static_cast<std::size_t>(left.next)].previous = index;
    }

    /// Calls `visit(symbol)` from left to right.
    template <class Visit>
    void forEach(Visit visit) const {
        for (std::int32_t i = m_symbols.empty() ? none : 0; i != none; i = (*this)[i].next) visit((*this)[i]);
    }

private:
    std::vector<Symbol> m_symbols;
};

}  // namespace firsttoken::engine
