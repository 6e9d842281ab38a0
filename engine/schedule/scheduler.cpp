#include "engine/schedule/scheduler.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace firsttoken::engine {

namespace {
constexpr std::int64_t longestContext = 0x7FFFFFFF;  // positions and rows are 32 bits wide
}  // namespace

SchedulerConfig SchedulerConfig::fromProfile(const Profile& effective) {
    SchedulerConfig config;
    config.continuousBatching = effective.scheduler.continuousBatching;
    config.maxConcurrentSequences = effective.scheduler.maxConcurrentSequences;
    config.maxBatchTokens = effective.scheduler.maxBatchTokens;
    config.kvCache = effective.cache.kvCache;
    config.maxContextTokens = effective.model.maxContextTokens.value_or(config.maxContextTokens);
    config.policy = effective.scheduler.policy;
    config.chunkedPrefill = effective.scheduler.chunkedPrefill;
    config.prefillTimeMs = effective.scheduler.prefillTimeMs;
    config.maxQueue = effective.scheduler.maxQueue;
    config.queueTimeoutMs = effective.scheduler.queueTimeoutMs;
    return config;
}

std::size_t StepPlan::logits() const {
    return static_cast<std::size_t>(
        std::count_if(entries.begin(), entries.end(), [](const StepEntry& entry) { return entry.wantsLogits; }));
}

Scheduler::Scheduler(SchedulerConfig config, KvCache& cache) : m_config(config), m_cache(cache) {
    assert(config.maxConcurrentSequences > 0 && config.maxBatchTokens > 0);
    m_config.maxContextTokens = std::min(config.maxContextTokens, longestContext);
    m_config.maxBatchTokens = std::min(config.maxBatchTokens, longestContext);
}

Scheduler::~Scheduler() {
    for (auto& [id, sequence] : m_sequences) m_cache.release(sequence->blocks);
}

std::optional<Rejection> Scheduler::submit(Sequence sequence, Nanoseconds now) {
    const auto prompt = static_cast<std::int64_t>(sequence.tokens.size());
    if (prompt == 0) return Rejection{RejectReason::EmptyPrompt};
    if (m_sequences.contains(sequence.id)) {
        return Rejection{RejectReason::DuplicateId, static_cast<std::int64_t>(sequence.id)};
    }
    if (prompt >= m_config.maxContextTokens) {
        return Rejection{RejectReason::PromptOverContext, prompt, m_config.maxContextTokens - 1};
    }
    const std::int64_t room = m_config.maxContextTokens - prompt;
    if (sequence.maxTokens <= 0) sequence.maxTokens = std::max<std::int64_t>(largestSequence() - prompt, 1);
    sequence.maxTokens = std::min(sequence.maxTokens, room);
    sequence.promptTokens = static_cast<std::uint32_t>(prompt);
    if (const auto refused = refusal(sequence)) return refused;

    auto owned = std::make_unique<Sequence>(std::move(sequence));
    owned->state = RequestState::Queued;
    owned->computedTokens = 0;
    owned->cachedTokens = 0;
    owned->preemptions = 0;
    owned->firstScheduledNs = 0;
    owned->lastStep = 0;
    owned->arrivalOrder = ++m_arrivals;
    owned->arrivalNs = now;
    m_queue.push_back(owned.get());
    const RequestId id = owned->id;
    m_sequences.emplace(id, std::move(owned));
    return std::nullopt;
}

std::optional<Rejection> Scheduler::refusal(const Sequence& sequence) const {
    if (!m_config.chunkedPrefill && sequence.promptTokens > m_config.maxBatchTokens) {
        return Rejection{RejectReason::PromptOverBatch, sequence.promptTokens, m_config.maxBatchTokens};
    }
    const std::span<const KvGroup> groups = m_cache.groups();
    for (std::size_t g = 0; g < groups.size(); ++g) {
        std::uint32_t needed = m_cache.blocksNeeded(g, sequence.lastLength(), 1);
        if (!m_config.chunkedPrefill) {
            needed = std::max(needed, m_cache.blocksNeeded(g, sequence.promptTokens, sequence.promptTokens));
        }
        if (needed > groups[g].blocks) {
            return Rejection{RejectReason::NeverFitsKv, needed, groups[g].blocks, g,
                             sequence.promptTokens + sequence.maxTokens};
        }
    }
    const auto waiting =
        std::count_if(m_queue.begin(), m_queue.end(), [](const Sequence* queued) { return queued->preemptions == 0; });
    if (waiting >= m_config.maxQueue) return Rejection{RejectReason::QueueFull, waiting + 1, m_config.maxQueue};
    return std::nullopt;
}

void Scheduler::commit(const StepPlan& plan, std::span<const TokenId> sampled) {
    std::size_t next = 0;
    for (const StepEntry& entry : plan.entries) {
        std::optional<TokenId> token;
        if (entry.wantsLogits && next < sampled.size()) token = sampled[next];
        if (entry.wantsLogits) ++next;
        // Gone, preempted or otherwise changed since the plan was made: nothing of this entry counts.
        const auto found = m_sequences.find(entry.id);
        if (found == m_sequences.end() || found->second.get() != entry.sequence) continue;
        Sequence& sequence = *found->second;
        if (sequence.state == RequestState::Queued || sequence.computedTokens != entry.firstPosition) continue;
        if (entry.wantsLogits && !token) continue;
        advance(sequence, entry, token);
    }
}

void Scheduler::advance(Sequence& sequence, const StepEntry& entry, std::optional<TokenId> sampled) {
    sequence.computedTokens += entry.count;
    m_cache.publish(sequence.blocks, sequence.tokens, sequence.computedTokens);  // without KV cache: nothing
    m_cache.slide(sequence.blocks, sequence.computedTokens);
    if (!sampled) return;
    sequence.tokens.push_back(*sampled);
    sequence.state = RequestState::Decoding;
    if (m_config.kvCache) return;
    sequence.computedTokens = 0;
    m_cache.rewind(sequence.blocks);
}

void Scheduler::stepDone(const StepPlan& plan, Nanoseconds duration) {
    m_time.observe(plan.prefillRows, plan.decodeRows, duration);
}

bool Scheduler::finish(RequestId id) {
    const auto found = m_sequences.find(id);
    if (found == m_sequences.end()) return false;
    Sequence* sequence = found->second.get();
    m_cache.release(sequence->blocks);
    std::erase(m_queue, sequence);
    std::erase(m_running, sequence);
    std::erase(m_preempted, id);
    m_sequences.erase(found);
    return true;
}

void Scheduler::reconfigure(const SchedulerConfig& config) {
    m_config.policy = config.policy;
    m_config.chunkedPrefill = config.chunkedPrefill;
    m_config.prefillTimeMs = config.prefillTimeMs;
    m_config.maxQueue = config.maxQueue;
    m_config.queueTimeoutMs = config.queueTimeoutMs;
    m_config.prefillOnlyStepNs = config.prefillOnlyStepNs;
}

SchedulerCounts Scheduler::counts() const {
    SchedulerCounts counts;
    counts.queued = static_cast<std::uint32_t>(m_queue.size());
    counts.preemptions = m_preemptions;
    for (const Sequence* sequence : m_running) {
        ++(sequence->state == RequestState::Prefilling ? counts.prefilling : counts.decoding);
    }
    return counts;
}

const Sequence* Scheduler::find(RequestId id) const {
    const auto found = m_sequences.find(id);
    return found == m_sequences.end() ? nullptr : found->second.get();
}

std::uint32_t Scheduler::queuePlace(RequestId id) const {
    const Sequence* sequence = find(id);
    if (sequence == nullptr || sequence->state != RequestState::Queued) return 0;
    const auto before = std::count_if(m_queue.begin(), m_queue.end(), [&](const Sequence* other) {
        return other != sequence && comesBefore(*other, *sequence);
    });
    return static_cast<std::uint32_t>(before) + 1;
}

std::vector<RequestId> Scheduler::queueOrder() const {
    std::vector<Sequence*> order = m_queue;
    std::sort(order.begin(), order.end(), [this](const Sequence* a, const Sequence* b) { return comesBefore(*a, *b); });
    std::vector<RequestId> ids;
    ids.reserve(order.size());
    for (const Sequence* sequence : order) ids.push_back(sequence->id);
    return ids;
}

std::int64_t Scheduler::largestSequence() const {
    // The last token sampled needs no KV.
    return std::min(m_config.maxContextTokens, std::int64_t{m_cache.largestSequence()} + 1);
}

void Scheduler::preempt(Sequence& sequence) {
    m_cache.release(sequence.blocks);
    sequence.computedTokens = 0;
    sequence.state = RequestState::Queued;
    ++sequence.preemptions;
    ++m_preemptions;
    std::erase(m_running, &sequence);
    m_queue.push_back(&sequence);
    m_preempted.push_back(sequence.id);
}

bool Scheduler::forcePreempt(RequestId id) {
    const auto found = m_sequences.find(id);
    if (found == m_sequences.end() || found->second->state == RequestState::Queued) return false;
    preempt(*found->second);
    return true;
}

void Scheduler::forcePreemptAll() {
    while (!m_running.empty()) preempt(*m_running.back());
}

std::string Scheduler::checkInvariants() const {
    std::vector<const SequenceBlocks*> live;
    for (const auto& [id, sequence] : m_sequences) {
        live.push_back(&sequence->blocks);
        const std::string who = "sequence " + std::to_string(id) + ": ";
        const bool queued = std::count(m_queue.begin(), m_queue.end(), sequence.get()) == 1;
        const bool running = std::count(m_running.begin(), m_running.end(), sequence.get()) == 1;
        if (queued == running) return who + "neither queued nor running, or both";
        if (queued != (sequence->state == RequestState::Queued)) return who + "is not where its state says";
        if (sequence->computedTokens >= sequence->tokens.size()) return who + "has no token left to compute";
        if (queued && sequence->computedTokens != 0) return who + "has computed tokens in the queue";
        for (std::size_t g = 0; g < m_cache.groups().size(); ++g) {
            if (queued && sequence->blocks.held(g) != 0) return who + "holds blocks in the queue";
            if (!queued && m_cache.growth(sequence->blocks, g, sequence->computedTokens) != 0) {
                return who + "does not hold what it computed";
            }
        }
    }
    if (m_queue.size() + m_running.size() != m_sequences.size()) return "a sequence is listed that is gone";
    if (static_cast<std::int64_t>(m_running.size()) > m_config.maxConcurrentSequences) return "too many are running";
    return m_cache.checkInvariants(live);
}

}  // namespace firsttoken::engine
