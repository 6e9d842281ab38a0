#include <QtTest>
#include <cstdlib>
#include <random>

#include "tests/engine/schedule/fake_backend.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
using namespace firsttoken::tests;

/// Random operations on queue, scheduler and cache. After each: every block counted once and all counts right
/// (invariants 2 and 3), every row reads its own history (4), work goes on where there is any (5), and in the end
/// each output is the one of the request alone (1).
class TestSchedulerProperty : public QObject {
    Q_OBJECT

private slots:
    void randomOperationsKeepTheInvariants();
};

namespace {

class Fuzz {
public:
    Fuzz(std::uint64_t seed, int operations) : m_random(seed), m_operations(operations) {
        m_config.continuousBatching = pick(5) != 0;
        m_config.maxConcurrentSequences = 1 + pick(8);
        m_config.maxBatchTokens = pick(4) == 0 ? 1 + pick(6) : 4 + pick(60);
        m_config.kvCache = pick(6) != 0;
        m_config.maxContextTokens = 8 + pick(60);
        m_config.prefillOnlyStepNs = pick(2) * 5'000'000;
        changeSettings();
        KvCacheConfig kv = kvConfig(1U << pick(4), {}, pick(5) != 0);
        const std::uint32_t enough = static_cast<std::uint32_t>(m_config.maxContextTokens) / kv.blockTokens + 1;
        const std::uint32_t groups = 1 + pick(3);
        for (std::uint32_t g = 0; g < groups; ++g) {
            const bool windowed = pick(2) == 0;
            const std::uint32_t window = windowed ? 1 + pick(20) : 0;
            kv.groups.push_back({1 + enough / 2 + pick(enough * 3), window});
        }
        const std::uint64_t mask = pick(3) == 0 ? 15 : (pick(2) == 0 ? 0 : ~std::uint64_t{0});
        if (mask != ~std::uint64_t{0}) {
            kv.hash = [mask](NodeId parent, std::span<const TokenId> tokens) -> std::uint64_t {
                return (parent * 31 + static_cast<std::uint64_t>(tokens[0])) & mask;
            };
        }
        m_engine = std::make_unique<FakeEngine>(m_config, std::move(kv));
    }

    std::string run() {
        for (int i = 0; i < m_operations; ++i) {
            if (std::string wrong = operation(); !wrong.empty()) return wrong + ", operation " + std::to_string(i);
        }
        if (m_engine->scheduler.config().queueTimeoutMs > 0) {
            SchedulerConfig patient = m_engine->scheduler.config();
            patient.queueTimeoutMs = 0;
            m_engine->scheduler.reconfigure(patient);
        }
        for (int i = 0; m_engine->scheduler.hasWork(); ++i) {
            if (i > 20000) return "the queue does not drain";
            if (std::string wrong = step(); !wrong.empty()) return wrong + ", draining";
        }
        if (m_engine->cache.counts().referenced != 0) return "blocks are referenced at idle";
        if (m_ended != m_accepted) return "a request was accepted and did not end once";
        return {};
    }

    static std::uint64_t outputsSeen;
    static std::uint64_t hitsSeen;
    static std::uint64_t preemptionsSeen;
    static std::uint64_t refusalsSeen;
    static std::uint64_t timeoutsSeen;

private:
    std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(m_random() % below); }

    void changeSettings() {
        constexpr SchedulePolicy policies[] = {SchedulePolicy::Fcfs, SchedulePolicy::Priority,
                                               SchedulePolicy::ShortestPrompt, SchedulePolicy::LongestPrefix};
        m_config.policy = policies[pick(4)];
        m_config.chunkedPrefill = pick(3) != 0;
        m_config.prefillTimeMs = pick(2) == 0 ? 0 : 1 + pick(20);
        m_config.maxQueue = 1 + pick(40);
        m_config.queueTimeoutMs = pick(4) == 0 ? 1 + pick(2000) : 0;
        if (m_engine) m_engine->scheduler.reconfigure(m_config);
    }

    std::string operation() {
        const std::uint32_t what = pick(100);
        if (what < 25) return submit();
        if (what < 32) return cancel();
        if (what < 35) return preempt();
        if (what < 37) changeSettings();
        if (what == 37) m_engine->cache.clearPrefixes();
        if (what == 38) m_engine->nowNs += Nanoseconds{pick(3)} * 1'000'000'000;
        if (what < 39) return m_engine->scheduler.checkInvariants();
        return step();
    }

    std::string submit() {
        const RequestId id = ++m_lastId;
        const auto room = static_cast<std::uint32_t>(m_config.maxContextTokens);
        std::vector<TokenId> prompt;
        const std::uint32_t length = pick(20) == 0 ? pick(2 * room) : 1 + pick(room);
        const std::uint32_t shared = pick(length + 1);
        const auto family = static_cast<TokenId>(pick(3));
        for (std::uint32_t i = 0; i < length; ++i) {
            prompt.push_back(i < shared ? family : static_cast<TokenId>(pick(7)));
        }
        const std::int64_t most = pick(10) == 0 ? 0 : 1 + pick(24);
        const std::string nameSpace = "space " + std::to_string(pick(3));
        const auto queued = m_engine->scheduler.counts().queued;
        const auto refused = m_engine->submit(id, prompt, most, static_cast<int>(pick(4)), nameSpace);
        if (!refused) {
            ++m_accepted;
            m_requests[id] = {nameSpace, prompt};
            return m_engine->scheduler.checkInvariants();
        }
        ++refusalsSeen;
        const std::string what = toError(*refused).message;
        if (what.empty() || m_engine->scheduler.counts().queued != queued) return "a refusal changed something";
        if (refused->reason == RejectReason::NeverFitsKv && refused->asked <= refused->limit) return what;
        if (refused->reason == RejectReason::PromptOverContext && prompt.size() < room) return what;
        return {};
    }

    RequestId anyId() { return 1 + pick(static_cast<std::uint32_t>(m_lastId) + 3); }

    std::string cancel() {
        const RequestId id = pick(3) == 0 || m_requests.empty() ? anyId() : aLiveOne();
        const bool known = m_requests.contains(id);
        if (m_engine->scheduler.cancel(id) != known) return "cancel does not know who is there";
        if (m_engine->scheduler.cancel(id)) return "cancelled twice";
        if (known) ended(id);
        return m_engine->scheduler.checkInvariants();
    }

    RequestId aLiveOne() {
        auto found = m_requests.begin();
        std::advance(found, pick(static_cast<std::uint32_t>(m_requests.size())));
        return found->first;
    }

    std::string preempt() {
        if (pick(4) == 0) {
            m_engine->scheduler.forcePreemptAll();
        } else {
            m_engine->scheduler.forcePreempt(pick(2) == 0 || m_requests.empty() ? anyId() : aLiveOne());
        }
        return m_engine->scheduler.checkInvariants();
    }

    void ended(RequestId id) {
        m_requests.erase(id);
        ++m_ended;
    }

    std::string step() {
        Scheduler& scheduler = m_engine->scheduler;
        // Sometimes a request is cancelled between plan and commit: both must take it.
        if (pick(20) == 0) return interruptedStep();
        const bool hadWork = scheduler.hasWork();
        m_engine->outputs.clear();
        if (!m_engine->step()) return m_engine->error;
        return afterPlan(m_engine->plan, hadWork, m_engine->outputs);
    }

    std::string interruptedStep() {
        Scheduler& scheduler = m_engine->scheduler;
        const bool hadWork = scheduler.hasWork();
        const StepPlan plan = scheduler.plan(m_engine->nowNs);
        std::vector<TokenId> sampled;
        if (std::string wrong = m_engine->backend.run(plan, sampled); !wrong.empty()) return wrong;
        if (std::string wrong = afterPlan(plan, hadWork, {}); !wrong.empty()) return wrong;
        if (!plan.entries.empty()) {
            const RequestId id = plan.entries[pick(static_cast<std::uint32_t>(plan.entries.size()))].id;
            if (pick(2) == 0) {
                scheduler.forcePreempt(id);
            } else {
                scheduler.finish(id);
                ended(id);
            }
        }
        if (pick(2) == 0) return scheduler.checkInvariants();  // as after a failed step: nothing is committed
        scheduler.commit(plan, sampled);
        std::vector<RequestId> full;
        for (const auto& [id, request] : m_requests) {
            const Sequence* sequence = scheduler.find(id);
            if (sequence != nullptr && sequence->atLimit()) full.push_back(id);
        }
        for (const RequestId id : full) {
            scheduler.finish(id);
            ended(id);
        }
        return scheduler.checkInvariants();
    }

    std::string afterPlan(const StepPlan& plan, bool hadWork,
                          const std::map<RequestId, std::vector<TokenId>>& outputs) {
        for (const RequestId id : plan.timedOut) {
            if (!m_requests.contains(id)) return "one that is not there has timed out";
            ended(id);
            ++timeoutsSeen;
        }
        preemptionsSeen += plan.preempted.size();
        if (plan.rows() > m_config.maxBatchTokens) return "a step has too many rows";
        if (hadWork && plan.entries.empty() && m_engine->scheduler.hasWork()) return "work waits and nothing runs";
        std::uint32_t rows = 0;
        for (const StepEntry& entry : plan.entries) rows += entry.count;
        if (rows != plan.rows()) return "the plan counts its rows wrongly";
        for (const RequestId id : plan.admitted) {
            const Sequence* sequence = m_engine->scheduler.find(id);
            if (sequence != nullptr && sequence->cachedTokens > 0) {
                ++hitsSeen;
                if (!m_engine->cache.publishes() || !m_config.kvCache) return "a hit with the cache off";
            }
        }
        for (const auto& [id, output] : outputs) {
            const auto& [nameSpace, prompt] = m_requests.at(id);
            if (output != aloneOutput(nameSpace, prompt, output.size())) return "an output differs from its own alone";
            ended(id);
            ++outputsSeen;
        }
        return {};
    }

    std::mt19937_64 m_random;
    int m_operations;
    SchedulerConfig m_config;
    std::unique_ptr<FakeEngine> m_engine;
    std::map<RequestId, std::pair<std::string, std::vector<TokenId>>> m_requests;  ///< accepted and not ended
    RequestId m_lastId = 0;
    std::uint64_t m_accepted = 0;
    std::uint64_t m_ended = 0;
};

std::uint64_t Fuzz::outputsSeen = 0;
std::uint64_t Fuzz::hitsSeen = 0;
std::uint64_t Fuzz::preemptionsSeen = 0;
std::uint64_t Fuzz::refusalsSeen = 0;
std::uint64_t Fuzz::timeoutsSeen = 0;

}  // namespace

void TestSchedulerProperty::randomOperationsKeepTheInvariants() {
    const bool isLong = std::getenv("FIRSTTOKEN_LONG") != nullptr;
    const std::uint64_t seeds = isLong ? 5000 : 150;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const std::string wrong = Fuzz(seed, 1000).run();
        QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
    }
    // The runs must have been about something.
    QVERIFY(Fuzz::outputsSeen > 10 * seeds);
    QVERIFY(Fuzz::hitsSeen > 5 * seeds);
    QVERIFY(Fuzz::preemptionsSeen > 5 * seeds);
    QVERIFY(Fuzz::refusalsSeen > seeds);
    QVERIFY(Fuzz::timeoutsSeen > seeds / 2);
    qInfo("%llu outputs, %llu hits, %llu preemptions, %llu refusals, %llu timeouts",
          static_cast<unsigned long long>(Fuzz::outputsSeen), static_cast<unsigned long long>(Fuzz::hitsSeen),
          static_cast<unsigned long long>(Fuzz::preemptionsSeen), static_cast<unsigned long long>(Fuzz::refusalsSeen),
          static_cast<unsigned long long>(Fuzz::timeoutsSeen));
}

FIRSTTOKEN_TEST_CLASS(TestSchedulerProperty);
#include "test_scheduler_property.moc"
