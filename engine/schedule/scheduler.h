#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/events.h"
#include "engine/profile.h"
#include "engine/result.h"
#include "engine/schedule/sequence.h"
#include "engine/schedule/step_time_model.h"

/// Decides what each step computes; the core computes it. No threads, no clock (times are given), no backend.
///
///     if (auto refused = scheduler.submit(std::move(sequence), now)) …
///     while (scheduler.hasWork()) {
///         StepPlan plan = scheduler.plan(now);      // end plan.timedOut; tell plan.preempted, plan.admitted
///         if (plan.entries.empty()) continue;       // only where everything that waited has timed out
///         … run rows plan.entries[i].sequence->tokens[firstPosition … + count) with sequence->blocks.tables …
///         scheduler.finish(id) for those whose sampling failed;  scheduler.commit(plan, sampled);
///         scheduler.stepDone(plan, durationNs);
///         scheduler.finish(id) for those at end of generation, at a stop string, or with sequence->atLimit();
///     }
namespace firsttoken::engine {

struct SchedulerConfig {
    bool continuousBatching = true;
    std::int64_t maxConcurrentSequences = 16;
    std::int64_t maxBatchTokens = 2048;
    bool kvCache = true;                   ///< false: every step recomputes the whole sequence, and nothing is shared
    std::int64_t maxContextTokens = 8192;  ///< prompt + output of one sequence

    // May change while running, see reconfigure().
    SchedulePolicy policy = SchedulePolicy::Fcfs;
    bool chunkedPrefill = true;
    std::int64_t prefillTimeMs = 0;  ///< 0: automatic
    std::int64_t maxQueue = 1024;
    std::int64_t queueTimeoutMs = 0;  ///< 0: none

    /// Longest that an automatic step of prefill alone should take, so that a cancel or a new request does not wait
    /// for a whole batch on a slow machine; 0: no limit. Needs measured steps.
    Nanoseconds prefillOnlyStepNs = 1'000'000'000;

    static SchedulerConfig fromProfile(const Profile& effective);
};

enum class RejectReason {
    EmptyPrompt,
    DuplicateId,
    PromptOverContext,  ///< asked: prompt tokens; limit: the context less one token of output
    PromptOverBatch,    ///< without chunked prefill. asked: prompt tokens; limit: maxBatchTokens
    NeverFitsKv,        ///< asked: blocks that it would need alone; limit: blocks of the pool of `group`
    QueueFull,          ///< asked: sequences waiting, this one included; limit: maxQueue
};
struct Rejection {
    RejectReason reason = RejectReason::EmptyPrompt;
    std::int64_t asked = 0;
    std::int64_t limit = 0;
    std::size_t group = 0;
    std::int64_t tokens = 0;  ///< NeverFitsKv: prompt + output tokens of the request
    bool operator==(const Rejection&) const = default;
};
/// BadInput, DoesNotFit or Rejected, with one sentence that holds the numbers.
Error toError(const Rejection& rejection);

/// Rows of one sequence in a step: tokens[firstPosition … firstPosition + count) at those positions.
struct StepEntry {
    RequestId id = 0;
    Sequence* sequence = nullptr;  ///< valid until it is finished or cancelled
    std::uint32_t firstPosition = 0;
    std::uint32_t count = 0;
    bool wantsLogits = false;  ///< of its last row: the entry ends at the sequence's last token
    bool decode = false;       ///< the row of a token that was just sampled
};

struct StepPlan {
    std::uint64_t step = 0;          ///< counts from 1
    std::vector<StepEntry> entries;  ///< at most one a sequence; tables cover its rows
    std::uint32_t prefillRows = 0;
    std::uint32_t decodeRows = 0;
    std::vector<RequestId> admitted;   ///< got KV in this step, first time or again
    std::vector<RequestId> preempted;  ///< gave their blocks back and wait again
    std::vector<RequestId> timedOut;   ///< waited too long: no longer in the scheduler

    std::uint32_t rows() const { return prefillRows + decodeRows; }
    /// Number of entries that want logits.
    std::size_t logits() const;
};

struct SchedulerCounts {
    std::uint32_t queued = 0, prefilling = 0, decoding = 0;
    std::uint64_t preemptions = 0;  ///< since the start
    bool operator==(const SchedulerCounts&) const = default;
};

class Scheduler {
public:
    /// `cache` must outlive the scheduler. Others may hold blocks of it only between two plans.
    Scheduler(SchedulerConfig config, KvCache& cache);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    /// Takes the sequence into the queue, or says why it never can be. maxTokens is cut to the context's end.
    [[nodiscard]] std::optional<Rejection> submit(Sequence sequence, Nanoseconds now);
    /// What the next step computes. Blocks for its rows are taken here.
    StepPlan plan(Nanoseconds now);
    /// After the step: advances its sequences. `sampled`: one token for each entry that wants logits, in the plan's
    /// order (any value for a sequence that was finished since). Entries of sequences that are gone are skipped.
    void commit(const StepPlan& plan, std::span<const TokenId> sampled);
    /// How long the step took; teaches the time model.
    void stepDone(const StepPlan& plan, Nanoseconds duration);
    /// Removes the sequence, whatever its state, and gives its blocks back. False for one that is not there.
    bool finish(RequestId id);
    bool cancel(RequestId id) { return finish(id); }
    /// Takes the changeable settings of `config` over; the others stay.
    void reconfigure(const SchedulerConfig& config);

    bool hasWork() const { return !m_sequences.empty(); }
    SchedulerCounts counts() const;
    /// Null for one that is not there.
    const Sequence* find(RequestId id) const;
    /// Place in the queue, 1 = next; 0: not queued.
    std::uint32_t queuePlace(RequestId id) const;
    /// Queued sequences, next one first.
    std::vector<RequestId> queueOrder() const;
    /// Longest prompt + output that context and KV pools allow.
    std::int64_t largestSequence() const;
    const SchedulerConfig& config() const { return m_config; }
    const StepTimeModel& timeModel() const { return m_time; }

    /// For tests: the sequence gives its blocks back and waits again. False if it holds none.
    bool forcePreempt(RequestId id);
    void forcePreemptAll();
    /// Recounts blocks and states from scratch; what is wrong, or empty.
    std::string checkInvariants() const;

private:
    // scheduler.cpp
    std::optional<Rejection> refusal(const Sequence& sequence) const;
    void advance(Sequence& sequence, const StepEntry& entry, std::optional<TokenId> sampled);
    void preempt(Sequence& sequence);

    // plan.cpp: rows of a step
    void expire(StepPlan& plan, Nanoseconds now);
    void sortRunning();
    void secureBlocks();
    bool mustBeWhole(const Sequence& sequence) const;
    std::uint32_t leastRows(const Sequence& sequence) const;
    std::uint32_t rowsThatFit(const Sequence& sequence, std::uint32_t rows) const;
    std::uint32_t addRows(StepPlan& plan, Sequence& sequence, std::uint32_t most, Nanoseconds now);
    void addDecodes(StepPlan& plan, std::uint32_t most, Nanoseconds now);
    void addPrefills(StepPlan& plan, std::uint32_t most, Nanoseconds now);
    std::uint32_t rowsKeptForPrefill() const;
    std::uint32_t prefillShare(std::uint32_t decodeRows) const;
    bool decodeStepMustBeMeasured(std::uint32_t decodeRows) const;

    // admission.cpp: who comes next, and whether there is room
    bool comesBefore(const Sequence& a, const Sequence& b) const;
    void refreshPrefixHints();
    Sequence* oldestQueued() const;
    Sequence* nextCandidate() const;
    bool prefixIsUnderway(const Sequence& sequence) const;
    std::uint32_t demand(const Sequence& sequence, std::size_t group) const;
    std::uint32_t reserve(const Sequence& sequence, std::size_t group, std::uint32_t headroom) const;
    bool hasRoom(const Sequence& sequence) const;
    bool admit(Sequence& sequence, std::uint32_t rows);
    void noteAdmission(const Sequence& sequence);

    SchedulerConfig m_config;
    KvCache& m_cache;
    StepTimeModel m_time;
    std::unordered_map<RequestId, std::unique_ptr<Sequence>> m_sequences;
    std::vector<Sequence*> m_queue;      ///< hold nothing; in no order
    std::vector<Sequence*> m_running;    ///< hold KV; while planning, the last is preempted first
    std::vector<RequestId> m_preempted;  ///< since the last plan
    std::uint64_t m_step = 0;
    std::uint64_t m_arrivals = 0;
    std::uint64_t m_preemptions = 0;
    std::uint64_t m_decodeOnlyStep = 0;  ///< the latest step without prefill; 0: none
    std::uint32_t m_decodeOnlyRows = 0;  ///< its rows
    RequestId m_passedOver = 0;          ///< the oldest queued sequence at the last admission
    std::uint32_t m_passes = 0;          ///< younger ones admitted in a row while it waited
};

}  // namespace firsttoken::engine
