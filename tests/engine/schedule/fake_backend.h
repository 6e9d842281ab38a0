#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/schedule/scheduler.h"

/// A backend that computes nothing and remembers everything: each slot of each block holds which position of which
/// token history was written to it. What a row would read is compared with its own history.
namespace firsttoken::tests {

inline std::uint64_t mixHash(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 29);
}

/// After each token: a hash of namespace and all tokens so far.
inline std::vector<std::uint64_t> historyHashes(const std::string& nameSpace,
                                                const std::vector<engine::TokenId>& tokens) {
    std::uint64_t hash = 1;
    for (const char c : nameSpace) hash = mixHash(hash, static_cast<unsigned char>(c));
    std::vector<std::uint64_t> hashes;
    hashes.reserve(tokens.size());
    for (const engine::TokenId token : tokens) {
        hash = mixHash(hash, static_cast<std::uint64_t>(token) + 1000);
        hashes.push_back(hash);
    }
    return hashes;
}

/// The token that greedy sampling gives after this history.
inline engine::TokenId tokenAfter(std::uint64_t history) { return static_cast<engine::TokenId>(history % 7); }

/// What a request alone would produce.
inline std::vector<engine::TokenId> aloneOutput(const std::string& nameSpace, std::vector<engine::TokenId> tokens,
                                                std::size_t count) {
    std::vector<engine::TokenId> output;
    for (std::size_t i = 0; i < count; ++i) {
        output.push_back(tokenAfter(historyHashes(nameSpace, tokens).back()));
        tokens.push_back(output.back());
    }
    return output;
}

class FakeBackend {
public:
    explicit FakeBackend(const engine::KvCache& cache) : m_cache(cache), m_slots(cache.groups().size()) {
        for (std::size_t g = 0; g < m_slots.size(); ++g) {
            m_slots[g].resize(std::size_t{cache.groups()[g].blocks} * cache.blockTokens());
        }
    }

    /// Writes the rows, then reads as each row would. Returns what was wrong, or empty; fills `sampled`.
    std::string run(const engine::StepPlan& plan, std::vector<engine::TokenId>& sampled) {
        sampled.clear();
        std::vector<std::vector<std::uint64_t>> hashes;
        for (const engine::StepEntry& entry : plan.entries) {
            hashes.push_back(historyHashes(entry.sequence->nameSpace, entry.sequence->tokens));
            if (std::string wrong = write(entry, hashes.back()); !wrong.empty()) return wrong;
        }
        for (std::size_t i = 0; i < plan.entries.size(); ++i) {
            if (std::string wrong = read(plan.entries[i], hashes[i]); !wrong.empty()) return wrong;
            if (plan.entries[i].wantsLogits) sampled.push_back(tokenAfter(hashes[i].back()));
        }
        return {};
    }

private:
    struct Slot {
        std::uint32_t position = 0xFFFFFFFFU;
        std::uint64_t history = 0;
    };

    Slot* slot(const engine::Sequence& sequence, std::size_t g, std::uint32_t position) {
        const std::uint32_t size = m_cache.blockTokens();
        const auto& table = sequence.blocks.tables[g];
        if (position / size >= table.size() || table[position / size] >= m_cache.groups()[g].blocks) return nullptr;
        return &m_slots[g][std::size_t{table[position / size]} * size + position % size];
    }

    std::string write(const engine::StepEntry& entry, const std::vector<std::uint64_t>& hashes) {
        if (entry.count == 0 || entry.firstPosition + entry.count > hashes.size()) return "an entry has no such rows";
        if (entry.wantsLogits != (entry.firstPosition + entry.count == hashes.size())) return "wantsLogits is wrong";
        for (std::size_t g = 0; g < m_slots.size(); ++g) {
            for (std::uint32_t p = entry.firstPosition; p < entry.firstPosition + entry.count; ++p) {
                Slot* target = slot(*entry.sequence, g, p);
                if (target == nullptr) return "a row has no block to write to";
                *target = {p, hashes[p]};
            }
        }
        return {};
    }

    std::string read(const engine::StepEntry& entry, const std::vector<std::uint64_t>& hashes) {
        for (std::size_t g = 0; g < m_slots.size(); ++g) {
            const std::uint32_t window = m_cache.groups()[g].window;
            const std::uint32_t first = entry.firstPosition;
            const std::uint32_t oldest = window == 0 || first + 1 < window ? 0 : first + 1 - window;
            for (std::uint32_t p = oldest; p < first + entry.count; ++p) {
                const Slot* source = slot(*entry.sequence, g, p);
                if (source == nullptr) return "a row sees a position without a block";
                if (source->position != p || source->history != hashes[p]) {
                    return "sequence " + std::to_string(entry.id) + " reads another history at position " +
                           std::to_string(p) + " of group " + std::to_string(g);
                }
            }
        }
        return {};
    }

    const engine::KvCache& m_cache;
    std::vector<std::vector<Slot>> m_slots;  ///< by group: block * blockTokens + offset
};

/// An engine loop on a fake clock: submits, steps, ends at maxTokens, and checks as it goes.
class FakeEngine {
public:
    FakeEngine(engine::SchedulerConfig config, engine::KvCacheConfig cacheConfig)
        : cache(std::move(cacheConfig)), scheduler(config, cache), backend(cache) {}

    std::optional<engine::Rejection> submit(engine::RequestId id, std::vector<engine::TokenId> prompt,
                                            std::int64_t maxTokens, int priority = 0, std::string nameSpace = "m") {
        engine::Sequence sequence;
        sequence.id = id;
        sequence.tokens = std::move(prompt);
        sequence.maxTokens = maxTokens;
        sequence.priority = priority;
        sequence.nameSpace = std::move(nameSpace);
        return scheduler.submit(std::move(sequence), nowNs);
    }

    /// One step; remembers the outputs of those that end. False, with `error`, if something was wrong.
    bool step() {
        plan = scheduler.plan(nowNs);
        std::vector<engine::TokenId> sampled;
        error = backend.run(plan, sampled);
        if (!error.empty()) return false;
        const engine::Nanoseconds duration = baseNs + prefillRowNs * plan.prefillRows + decodeRowNs * plan.decodeRows;
        nowNs += duration;
        scheduler.commit(plan, sampled);
        scheduler.stepDone(plan, duration);
        for (const engine::StepEntry& entry : plan.entries) {
            const engine::Sequence* sequence = scheduler.find(entry.id);
            if (sequence == nullptr || !sequence->atLimit()) continue;
            const auto start = sequence->tokens.begin() + sequence->promptTokens;
            outputs[entry.id] = {start, sequence->tokens.end()};
            preemptions[entry.id] = sequence->preemptions;
            cached[entry.id] = sequence->cachedTokens;
            order.push_back(entry.id);
            scheduler.finish(entry.id);
        }
        error = scheduler.checkInvariants();
        return error.empty();
    }

    /// Steps until nothing is left, or `most` steps were made.
    bool drain(int most = 100000) {
        for (; most > 0 && scheduler.hasWork(); --most) {
            if (!step()) return false;
        }
        if (scheduler.hasWork()) error = "does not come to an end";
        return !scheduler.hasWork();
    }

    engine::KvCache cache;
    engine::Scheduler scheduler;
    FakeBackend backend;
    engine::StepPlan plan;
    engine::Nanoseconds nowNs = 1'000'000'000;
    engine::Nanoseconds baseNs = 10'000'000;
    engine::Nanoseconds prefillRowNs = 1'000'000;
    engine::Nanoseconds decodeRowNs = 1'000'000;
    std::string error;
    std::map<engine::RequestId, std::vector<engine::TokenId>> outputs;
    std::map<engine::RequestId, std::uint32_t> preemptions;
    std::map<engine::RequestId, std::uint32_t> cached;
    std::vector<engine::RequestId> order;  ///< in which they ended
};

inline engine::KvCacheConfig kvConfig(std::uint32_t blockTokens, std::vector<engine::KvGroup> groups,
                                      bool prefixCache = true) {
    engine::KvCacheConfig config;
    config.blockTokens = blockTokens;
    config.groups = std::move(groups);
    config.prefixCache = prefixCache;
    return config;
}

inline std::vector<engine::TokenId> promptOf(engine::TokenId first, std::size_t count) {
    std::vector<engine::TokenId> tokens;
    for (std::size_t i = 0; i < count; ++i) tokens.push_back(first + static_cast<engine::TokenId>(i % 50));
    return tokens;
}

}  // namespace firsttoken::tests
