#include <algorithm>
#include <cassert>

#include "engine/schedule/scheduler.h"

/// Which rows a step has: decodes first, then prefill in a bounded share of the step's time.
namespace firsttoken::engine {

namespace {
constexpr std::uint32_t firstGuessRows = 16;          // beside decodes, until steps were measured
constexpr std::uint32_t fewestPrefillOnlyRows = 128;  // below, a step of prefill alone wastes the machine
constexpr double prefillDecodeRatio = 2;              // prefill's time beside decodes; gaps then at most triple
constexpr std::uint64_t stepsBetweenMeasures = 256;
constexpr std::uint64_t fewestStepsBetweenMeasures = 8;
}  // namespace

StepPlan Scheduler::plan(Nanoseconds now) {
    StepPlan plan;
    plan.step = ++m_step;
    expire(plan, now);
    sortRunning();
    secureBlocks();

    const auto batch = static_cast<std::uint32_t>(m_config.maxBatchTokens);
    if (m_config.chunkedPrefill) {
        addDecodes(plan, batch - rowsKeptForPrefill(), now);
        addPrefills(plan, std::min(batch - plan.rows(), prefillShare(plan.decodeRows)), now);
    } else {
        // A whole prompt may need the whole step: it goes first, else steady decodes would keep it out for ever.
        addPrefills(plan, batch, now);
    }
    addDecodes(plan, batch - plan.rows(), now);  // with what prefill left
    if (plan.prefillRows == 0 && plan.decodeRows > 0) {
        m_decodeOnlyStep = m_step;
        m_decodeOnlyRows = plan.decodeRows;
    }
    plan.preempted.swap(m_preempted);
    return plan;
}

void Scheduler::expire(StepPlan& plan, Nanoseconds now) {
    if (m_config.queueTimeoutMs <= 0) return;
    for (const Sequence* sequence : m_queue) {
        const bool waitsForFirst = sequence->preemptions == 0;
        if (waitsForFirst && (now - sequence->arrivalNs) / 1'000'000 >= m_config.queueTimeoutMs) {
            plan.timedOut.push_back(sequence->id);
        }
    }
    for (const RequestId id : plan.timedOut) finish(id);
}

// The oldest first: it is never preempted, so it ends, and the next one is the oldest. The last is preempted first.
void Scheduler::sortRunning() {
    const auto older = [](const Sequence* a, const Sequence* b) { return a->arrivalOrder < b->arrivalOrder; };
    std::sort(m_running.begin(), m_running.end(), older);
    if (m_config.policy != SchedulePolicy::Priority || m_running.size() < 3) return;
    std::stable_sort(m_running.begin() + 1, m_running.end(),
                     [](const Sequence* a, const Sequence* b) { return a->priority > b->priority; });
}

// Every running sequence gets the blocks of its next row, at the cost of those after it. The last one waits with
// what it holds: others take that only once they need it.
void Scheduler::secureBlocks() {
    for (std::size_t i = 0; i < m_running.size(); ++i) {
        Sequence& sequence = *m_running[i];
        const std::uint32_t wanted = sequence.computedTokens + leastRows(sequence);
        while (!m_cache.grow(sequence.blocks, wanted) && m_running.size() > i + 1) preempt(*m_running.back());
    }
}

// Without chunked prefill a prompt runs whole. What cannot (a preempted sequence longer than a step or a windowed
// pool, a prompt accepted before the setting changed) runs in chunks.
bool Scheduler::mustBeWhole(const Sequence& sequence) const {
    if (m_config.chunkedPrefill || sequence.state == RequestState::Decoding) return false;
    if (sequence.remaining() > m_config.maxBatchTokens) return false;
    const auto length = static_cast<std::uint32_t>(sequence.tokens.size());
    for (std::size_t g = 0; g < m_cache.groups().size(); ++g) {
        if (m_cache.blocksNeeded(g, length, length) > m_cache.groups()[g].blocks) return false;
    }
    return true;
}

std::uint32_t Scheduler::leastRows(const Sequence& sequence) const {
    return mustBeWhole(sequence) ? sequence.remaining() : 1;
}

/// Of `rows`, those that the sequence's and the freeable blocks hold.
std::uint32_t Scheduler::rowsThatFit(const Sequence& sequence, std::uint32_t rows) const {
    const std::uint64_t block = m_cache.blockTokens();
    for (std::size_t g = 0; g < m_cache.groups().size(); ++g) {
        const std::uint64_t positions = (sequence.blocks.tables[g].size() + m_cache.freeable(g)) * block;
        const std::uint64_t free = positions - std::min<std::uint64_t>(positions, sequence.computedTokens);
        rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, free));
    }
    return rows;
}

/// Adds up to `most` rows of the sequence; returns how many. 0 where that is less than it can start with.
std::uint32_t Scheduler::addRows(StepPlan& plan, Sequence& sequence, std::uint32_t most, Nanoseconds now) {
    if (sequence.atLimit()) return 0;
    const std::uint32_t rows = rowsThatFit(sequence, std::min(most, sequence.remaining()));
    if (rows < leastRows(sequence)) return 0;
    const bool grown = m_cache.grow(sequence.blocks, sequence.computedTokens + rows);
    assert(grown);
    if (!grown) return 0;
    StepEntry entry;
    entry.id = sequence.id;
    entry.sequence = &sequence;
    entry.firstPosition = sequence.computedTokens;
    entry.count = rows;
    entry.wantsLogits = rows == sequence.remaining();
    entry.decode = sequence.state == RequestState::Decoding;
    // Where every step recomputes, only the row that is sampled from is a decode.
    const std::uint32_t decodes = entry.decode && entry.wantsLogits ? 1 : 0;
    plan.decodeRows += decodes;
    plan.prefillRows += rows - decodes;
    plan.entries.push_back(entry);
    sequence.lastStep = m_step;
    if (sequence.firstScheduledNs == 0) sequence.firstScheduledNs = std::max<Nanoseconds>(now, 1);
    return rows;
}

void Scheduler::addDecodes(StepPlan& plan, std::uint32_t most, Nanoseconds now) {
    std::vector<Sequence*> decodes;
    for (Sequence* sequence : m_running) {
        const bool hasRows = sequence->lastStep == m_step;
        if (sequence->state == RequestState::Decoding && !hasRows) decodes.push_back(sequence);
    }
    // Where a step has fewer rows than decodes, they take turns.
    std::stable_sort(decodes.begin(), decodes.end(),
                     [](const Sequence* a, const Sequence* b) { return a->lastStep < b->lastStep; });
    for (Sequence* sequence : decodes) {
        if (most == 0) return;
        most -= addRows(plan, *sequence, most, now);
    }
}

void Scheduler::addPrefills(StepPlan& plan, std::uint32_t most, Nanoseconds now) {
    const bool mayAdmit = m_config.continuousBatching || m_running.empty();
    const std::uint32_t all = most;
    for (Sequence* sequence : m_running) {
        if (sequence->state == RequestState::Prefilling && most > 0) most -= addRows(plan, *sequence, most, now);
    }
    if (!mayAdmit) return;
    refreshPrefixHints();
    // A batch of continuous_batching: false is filled at once, also with those that get rows in a later step.
    while (static_cast<std::int64_t>(m_running.size()) < m_config.maxConcurrentSequences &&
           (most > 0 || (!m_config.continuousBatching && all > 0))) {
        Sequence* next = nextCandidate();
        if (next == nullptr || !admit(*next, most)) return;
        plan.admitted.push_back(next->id);
        if (most > 0) most -= addRows(plan, *next, most, now);
    }
}

/// Rows of a full step that decodes leave to prefill, so that it goes on where there are more decodes than rows.
std::uint32_t Scheduler::rowsKeptForPrefill() const {
    const bool prefills = std::any_of(m_running.begin(), m_running.end(), [](const Sequence* sequence) {
        return sequence->state == RequestState::Prefilling;
    });
    const auto slots = m_config.maxConcurrentSequences - static_cast<std::int64_t>(m_running.size());
    const bool mayComeIn = m_config.continuousBatching && !m_queue.empty() && slots > 0;
    if (!prefills && !mayComeIn) return 0;
    const auto batch = static_cast<std::uint32_t>(m_config.maxBatchTokens);
    return batch == 1 ? static_cast<std::uint32_t>(m_step % 2) : std::max(batch / 8, 1U);
}

/// Most prefill rows beside so many decodes.
std::uint32_t Scheduler::prefillShare(std::uint32_t decodeRows) const {
    constexpr std::uint32_t all = 0xFFFFFFFFU;
    if (!m_config.kvCache) return all;
    if (decodeStepMustBeMeasured(decodeRows)) return 0;
    const bool beside = decodeRows > 0;
    double budgetNs = static_cast<double>(m_config.prefillTimeMs) * 1e6;
    std::uint32_t fewest = 1;
    if (m_config.prefillTimeMs == 0 && beside) {
        if (!m_time.knowsDecode()) return std::max(firstGuessRows, m_cache.blockTokens());
        budgetNs = prefillDecodeRatio * m_time.decodeStepNs(decodeRows);
    } else if (m_config.prefillTimeMs == 0) {
        if (m_config.prefillOnlyStepNs == 0 || !m_time.knowsPrefill()) return all;
        budgetNs = static_cast<double>(m_config.prefillOnlyStepNs);
        fewest = fewestPrefillOnlyRows;
    }
    if (!m_time.knowsPrefill()) return std::max(firstGuessRows, m_cache.blockTokens());
    return std::max(m_time.prefillRowsWithin(budgetNs, beside), fewest);
}

// Under a steady load no step would ever have decodes only, and the share that is theirs would stay a guess: from
// time to time, and where their number has changed much, one step leaves prefill out.
bool Scheduler::decodeStepMustBeMeasured(std::uint32_t decodeRows) const {
    if (decodeRows == 0) return false;
    if (m_decodeOnlyStep == 0) return true;
    const std::uint64_t since = m_step - m_decodeOnlyStep;
    const bool changed = decodeRows > 2 * m_decodeOnlyRows || 2 * decodeRows < m_decodeOnlyRows;
    return since >= stepsBetweenMeasures || (changed && since >= fewestStepsBetweenMeasures);
}

}  // namespace firsttoken::engine
