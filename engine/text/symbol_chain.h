#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace firsttoken::engine {

/// The symbols of a text while neighbours are being joined: a doubly linked list in one array, and a queue of the
/// joins that may be made. Joins are made by rank, the lowest first; of equal ranks from left to right. Near-linear,
/// no recursion. Reusable: clear() keeps the memory. One thread.
class SymbolChain {
public:
    static constexpr std::int32_t none = -1;

    struct Symbol {
        std::int32_t previous = none;
        std::int32_t next = none;
        std::uint32_t start = 0;      ///< in bytes
        std::uint32_t length = 0;     ///< 0: joined to the one before
        std::int32_t id = none;       ///< the caller's number of its text
        std::uint32_t rank = noJoin;  ///< of the join with the next symbol
        std::int32_t joined = none;   ///< what that join gives
    };
    /// A join that is possible: its rank, and the number of what it gives.
    struct Join {
        std::uint32_t rank = noJoin;
        std::int32_t id = none;
    };
    static constexpr std::uint32_t noJoin = 0xFFFFFFFF;

    void clear() { m_symbols.clear(); }
    void append(std::uint32_t start, std::uint32_t length, std::int32_t id) {
        const auto index = static_cast<std::int32_t>(m_symbols.size());
        if (index > 0) m_symbols.back().next = index;
        Symbol& symbol = m_symbols.emplace_back();
        symbol.previous = index - 1;
        symbol.start = start;
        symbol.length = length;
        symbol.id = id;
    }

    /// Makes all joins that `find(left, right)` allows; its Join has noJoin where two symbols cannot be joined.
    template <class Find>
    void joinAll(Find find) {
        m_queue.clear();
        for (std::size_t i = 0; i + 1 < m_symbols.size(); ++i) consider(static_cast<std::int32_t>(i), find);
        std::make_heap(m_queue.begin(), m_queue.end(), std::greater<>());
        while (!m_queue.empty()) {
            const std::uint64_t top = m_queue.front();
            std::pop_heap(m_queue.begin(), m_queue.end(), std::greater<>());
            m_queue.pop_back();
            const auto index = static_cast<std::int32_t>(top & 0xFFFFFFFFU);
            Symbol& left = at(index);
            // An entry is stale unless the symbol's next join still has its rank.
            if (left.length == 0 || left.rank != static_cast<std::uint32_t>(top >> 32U)) continue;
            joinWithNext(left, index);
            offer(left.previous, find);
            offer(index, find);
        }
    }

    /// Calls `visit(symbol)` from left to right.
    template <class Visit>
    void forEach(Visit visit) const {
        for (std::int32_t i = m_symbols.empty() ? none : 0; i != none;) {
            const Symbol& symbol = m_symbols[static_cast<std::size_t>(i)];
            visit(symbol);
            i = symbol.next;
        }
    }

private:
    Symbol& at(std::int32_t index) { return m_symbols[static_cast<std::size_t>(index)]; }

    void joinWithNext(Symbol& left, std::int32_t index) {
        Symbol& right = at(left.next);
        left.length += right.length;
        left.id = left.joined;
        left.next = right.next;
        right.length = 0;
        if (left.next != none) at(left.next).previous = index;
    }

    /// Looks up the join of a symbol with its next one, and queues it, unsorted.
    template <class Find>
    bool consider(std::int32_t index, Find find) {
        Symbol& left = at(index);
        const Join join = left.next == none ? Join{} : find(left, at(left.next));
        left.rank = join.rank;
        left.joined = join.id;
        if (join.rank == noJoin) return false;
        m_queue.push_back((static_cast<std::uint64_t>(join.rank) << 32U) | static_cast<std::uint32_t>(index));
        return true;
    }
    template <class Find>
    void offer(std::int32_t index, Find find) {
        if (index != none && consider(index, find)) std::push_heap(m_queue.begin(), m_queue.end(), std::greater<>());
    }

    std::vector<Symbol> m_symbols;
    std::vector<std::uint64_t> m_queue;  ///< a heap of rank << 32 | symbol
};

}  // namespace firsttoken::engine
