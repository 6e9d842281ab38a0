#include "engine/core/step_runner.h"

#include <algorithm>

namespace firsttoken::engine {

StepRunner::StepRunner(Parts parts, std::string nameSpace)
    : m_parts(std::move(parts)), m_nameSpace(std::move(nameSpace)) {
    const std::span<const TokenId> never = m_parts.text.neverSampled();
    m_neverSampled.assign(never.begin(), never.end());
    // Rows of the output matrix beyond the tokenizer's tokens are filler.
    for (std::size_t id = m_parts.text.vocabularySize(); id < m_parts.executor.vocabulary(); ++id) {
        m_neverSampled.push_back(static_cast<TokenId>(id));
    }
}

RequestRun* StepRunner::find(RequestId id) {
    const auto found = m_runs.find(id);
    return found == m_runs.end() ? nullptr : found->second.get();
}

void StepRunner::submit(std::unique_ptr<RequestRun> run) {
    const RequestId id = run->id();
    const Nanoseconds now = m_parts.clock();
    RequestRun& entry = *run;
    m_runs[id] = std::move(run);
    entry.arrived();
    const auto vocabulary = static_cast<TokenId>(m_parts.executor.vocabulary());
    for (const TokenId token : entry.request().prompt) {
        if (token >= 0 && token < vocabulary) continue;
        finish(id, FinishReason::Rejected,
               "token id " + std::to_string(token) + " is outside the vocabulary of " + std::to_string(vocabulary),
               now);
        return;
    }
    Sequence sequence;
    sequence.id = id;
    sequence.tokens = entry.request().prompt;
    sequence.maxTokens = entry.request().maxTokens;
    sequence.priority = entry.request().priority;
    sequence.nameSpace = m_nameSpace + entry.request().cacheSalt;
    if (const auto rejection = m_parts.scheduler.submit(std::move(sequence), now)) {
        finish(id, FinishReason::Rejected, toError(*rejection).message, now);
        return;
    }
    entry.queued(m_parts.scheduler.queuePlace(id), now);
}

void StepRunner::cancel(RequestId id, const std::string& why) {
    if (find(id) == nullptr) return;
    m_parts.scheduler.cancel(id);
    finish(id, FinishReason::Cancelled, why, m_parts.clock());
}

void StepRunner::disown(RequestId id) {
    if (RequestRun* run = find(id)) run->setClientGone();
}

void StepRunner::cancelAll(const std::string& why) {
    while (!m_runs.empty()) cancel(m_runs.begin()->first, why);
}

void StepRunner::finish(RequestId id, FinishReason reason, const std::string& detail, Nanoseconds now) {
    const auto found = m_runs.find(id);
    if (found == m_runs.end()) return;
    const std::unique_ptr<RequestRun> run = std::move(found->second);
    m_runs.erase(found);
    ++m_totals.finished;
    m_totals.cancelled += reason == FinishReason::Cancelled ? 1 : 0;
    m_totals.rejected += reason == FinishReason::Rejected ? 1 : 0;
    m_totals.failed += reason == FinishReason::Error ? 1 : 0;
    m_parts.beforeFinish();
    run->finish(reason, detail, now);
}

void StepRunner::step() {
    const StepPlan plan = m_parts.scheduler.plan(m_parts.clock());
    tellPlan(plan, m_parts.clock());
    if (plan.entries.empty()) return;
    const StepBatch batch = buildBatch(plan);
    m_logits.resize(std::max(m_logits.size(), batch.logitRows.size() * m_parts.executor.vocabulary()));
    const Nanoseconds start = m_parts.clock();
    const Status ran = m_parts.executor.run(batch, m_logits);
    const Nanoseconds end = m_parts.clock();
    ++m_totals.steps;
    if (!ran) {
        for (const StepEntry& entry : plan.entries) {
            m_parts.scheduler.finish(entry.id);
            finish(entry.id, FinishReason::Error, ran.error().message, end);
        }
        return;
    }
    const std::vector<TokenId> sampled = sample(plan);
    m_parts.scheduler.commit(plan, sampled);
    m_parts.scheduler.stepDone(plan, end - start);
    deliver(plan, sampled, m_parts.clock());
    pushStep(plan, end, end - start);
}

void StepRunner::tellPlan(const StepPlan& plan, Nanoseconds now) {
    for (const RequestId id : plan.timedOut) {
        finish(id, FinishReason::Rejected, "waited in the queue longer than scheduler.queue_timeout_ms allows", now);
    }
    for (const RequestId id : plan.preempted) {
        if (RequestRun* run = find(id)) run->preempted(now);
    }
    for (const RequestId id : plan.admitted) {
        RequestRun* run = find(id);
        const Sequence* sequence = m_parts.scheduler.find(id);
        if (run != nullptr && sequence != nullptr) run->admitted(sequence->cachedTokens, now);
    }
}

StepBatch StepRunner::buildBatch(const StepPlan& plan) const {
    StepBatch batch;
    batch.rows.reserve(plan.rows());
    for (const StepEntry& entry : plan.entries) {
        const auto index = static_cast<std::uint32_t>(batch.sequences.size());
        StepSequence sequence;
        for (const auto& table : entry.sequence->blocks.tables) sequence.tables.emplace_back(table);
        batch.sequences.push_back(std::move(sequence));
        for (std::uint32_t i = 0; i < entry.count; ++i) {
            const std::uint32_t position = entry.firstPosition + i;
            batch.rows.push_back({entry.sequence->tokens[position], position, index});
        }
        if (entry.wantsLogits) batch.logitRows.push_back(static_cast<std::uint32_t>(batch.rows.size() - 1));
    }
    return batch;
}

std::vector<TokenId> StepRunner::sample(const StepPlan& plan) {
    std::vector<TokenId> sampled;
    const std::size_t vocabulary = m_parts.executor.vocabulary();
    for (const StepEntry& entry : plan.entries) {
        if (!entry.wantsLogits) continue;
        const std::span<const float> logits(m_logits.data() + sampled.size() * vocabulary, vocabulary);
        RequestRun* run = find(entry.id);
        const auto token = run->sampler().sample(logits, entry.sequence->tokens, run->outputTokens());
        sampled.push_back(token ? *token : 0);
        if (!token) {
            m_parts.scheduler.finish(entry.id);
            finish(entry.id, FinishReason::Error, token.error().message, m_parts.clock());
        }
    }
    return sampled;
}

void StepRunner::deliver(const StepPlan& plan, const std::vector<TokenId>& sampled, Nanoseconds now) {
    std::size_t next = 0;
    for (const StepEntry& entry : plan.entries) {
        RequestRun* run = find(entry.id);
        const Sequence* sequence = m_parts.scheduler.find(entry.id);
        if (!entry.wantsLogits) {
            // Not where the prompt is done: kv_cache: false computes it again for every token.
            if (run != nullptr && sequence != nullptr && run->state() == RequestState::Prefilling) {
                run->prefillProgress(std::min(sequence->computedTokens, sequence->promptTokens), now);
            }
            continue;
        }
        const TokenId token = sampled[next++];
        if (run == nullptr || sequence == nullptr) continue;
        if (run->clientGone()) ++m_totals.wastedTokens;
        const bool stopped = run->token(token, now);
        if (!stopped && !sequence->atLimit()) continue;
        m_parts.scheduler.finish(entry.id);
        finish(entry.id, stopped ? FinishReason::Stop : FinishReason::Length, std::string(run->stopString()), now);
    }
}

void StepRunner::pushStep(const StepPlan& plan, Nanoseconds now, Nanoseconds duration) {
    const SchedulerCounts counts = m_parts.scheduler.counts();
    const BlockCounts blocks = m_parts.cache.counts();
    const StepCounts work = m_parts.executor.lastCounts();
    StepEvent event;
    event.step = plan.step;
    event.durationNs = duration;
    event.prefillRows = plan.prefillRows;
    event.decodeRows = plan.decodeRows;
    event.queued = counts.queued;
    event.prefilling = counts.prefilling;
    event.decoding = counts.decoding;
    event.blocksTotal = blocks.total;
    event.blocksReferenced = blocks.referenced;
    event.blocksCached = blocks.cached;
    event.weightBytes = work.weightBytes;
    event.kvBytesRead = work.kvBytesRead;
    event.multiplyAdds = work.multiplyAdds;
    m_parts.events.push({now, event});
}

}  // namespace firsttoken::engine
