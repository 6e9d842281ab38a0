#include "tests/sessions/report/simulated_session.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/profile.h"
#include "sessions/load/workload.h"

namespace firsttoken::tests {

using namespace sessions;

namespace {

constexpr double nsPerS = 1e9;
constexpr std::int64_t blockTokens = 16, blocksTotal = 768;
constexpr std::int64_t prefillRows = 128;  ///< of a step

class Simulator {
public:
    explicit Simulator(const Simulation& given) : m_given(given), m_random(given.seed) {}

    SessionData run() {
        m_data.header = header();
        plan();
        while (m_done < m_data.requests.size()) step();
        m_data.marks = {{m_warmupEndNs, MarkKind::WarmupEnd, ""}, {m_nowNs, MarkKind::LoadEnd, ""}};
        return std::move(m_data);
    }

private:
    struct Running {
        std::size_t index;
        std::int64_t prefilled = 0;
        std::int64_t leaveAfter = -1;  ///< output tokens
    };

    SessionHeader header() const {
        SessionHeader header;
        header.id = m_given.id;
        header.kind = SessionKind::Load;
        header.state = SessionState::Completed;
        header.startedAt = 1'767'268'800;
        header.title = m_given.title;
        header.modelPath = "models/gemma-3-270m-it-Q4_K_M.gguf";
        header.modelName = "Gemma 3 270M";
        header.architecture = "gemma3";
        header.modelFormat = "Q4_K_M";
        header.modelBytes = 253'000'000;
        header.modelHash = std::string(64, '7');
        header.profileName = "interactive";
        engine::Profile profile;
        profile.scheduler.maxConcurrentSequences = m_given.sequences;
        profile.slo.tpotMs = 60;
        header.requestedProfile = toJson(profile);
        profile.model.maxContextTokens = 8192;
        profile.device.threads = 8;
        header.effectiveProfile = toJson(profile);
        header.profileChanges =
            R"([{"key":"model.max_context_tokens","requested":"not set","effective":"8192","reason":"At most 8,192 unless asked for."}])";
        header.arithmetic = "int8";
        header.isa = "avx512-vnni";
        Workload workload;
        workload.name = "chat";
        workload.requests = m_given.requests;
        workload.arrivals.ratePerS = m_given.ratePerS;
        workload.seed = m_given.seed;
        header.workload = toJson(workload);
        header.seed = m_given.seed;
        header.machine =
            R"({"processor":"Simulated Processor 9000","cores":8,"memory_bytes":34359738368,"instruction_sets":["avx2","avx512f"],"system":"Linux"})";
        header.build = "0.1.0, gcc 12, Release";
        return header;
    }
    double uniform() { return std::uniform_real_distribution<double>(0, 1)(m_random); }
    std::int64_t length(double mean) {
        const double drawn = mean * std::exp(std::normal_distribution<double>(-0.15, 0.55)(m_random));
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(drawn), 4, 2000);
    }
    void plan() {
        double atS = 0.2;
        for (std::int64_t i = 0; i < m_given.requests; ++i) {
            RequestRecord request;
            request.number = i + 1;
            request.plannedNs = static_cast<std::int64_t>(atS * nsPerS);
            request.sentNs = request.plannedNs + 20'000 + static_cast<std::int64_t>(uniform() * 60'000);
            request.promptTokens = length(m_given.promptTokens);
            if (uniform() < 0.4) request.cachedTokens = request.promptTokens * 3 / 4 / blockTokens * blockTokens;
            if (i == m_given.warmup) m_warmupEndNs = request.plannedNs;
            m_wanted.push_back(length(m_given.outputTokens));
            m_data.requests.push_back(request);
            atS -= std::log(1 - uniform()) / m_given.ratePerS;
        }
    }
    void arrive() {
        while (m_next < m_data.requests.size() && *m_data.requests[m_next].sentNs <= m_nowNs) {
            RequestRecord& request = m_data.requests[m_next];
            if (uniform() < m_given.failShare) {
                request.reason = engine::FinishReason::Rejected;
                request.detail = "the queue is full (1,024 requests)";
                request.endNs = m_nowNs;
                ++m_done;
            } else {
                m_queue.push_back(m_next);
            }
            ++m_next;
        }
        while (!m_queue.empty() && static_cast<std::int64_t>(m_running.size()) < m_given.sequences) {
            m_data.requests[m_queue.front()].scheduledNs = m_nowNs;
            Running running{m_queue.front(), m_data.requests[m_queue.front()].cachedTokens, -1};
            if (uniform() < m_given.leaveShare) {
                running.leaveAfter = 1 + static_cast<std::int64_t>(uniform() * 20);
            }
            m_running.push_back(running);
            m_queue.erase(m_queue.begin());
        }
    }
    void step() {
        arrive();
        std::int64_t budget = prefillRows, decodes = 0, prefilled = 0;
        for (Running& running : m_running) {
            const RequestRecord& request = m_data.requests[running.index];
            if (request.prefillEndNs) {
                ++decodes;
                continue;
            }
            const std::int64_t rows = std::min(budget, request.promptTokens - running.prefilled);
            running.prefilled += rows;
            prefilled += rows;
            budget -= rows;
        }
        const bool idle = decodes + prefilled == 0;
        const double stepMs =
            idle ? 5 : (14 + 0.9 * static_cast<double>(decodes) + 0.35 * static_cast<double>(prefilled));
        const auto tookNs =
            static_cast<std::int64_t>(stepMs * 1e6 / (idle ? 1 : m_given.speed) * (0.95 + 0.1 * uniform()));
        m_nowNs += tookNs;
        if (!idle) m_busyNs += static_cast<double>(tookNs);
        m_prefilled += prefilled;
        m_decoded += decodes;
        advance();
        sample();
    }
    void advance() {
        for (Running& running : m_running) {
            RequestRecord& request = m_data.requests[running.index];
            if (!request.prefillEndNs) {
                if (running.prefilled < request.promptTokens) continue;
                request.prefillEndNs = m_nowNs;
            }
            ++request.outputTokens;
            request.deltaNs.push_back(m_nowNs);
            if (!request.firstTokenNs) request.firstTokenNs = m_nowNs;
            request.hungUp = request.outputTokens == running.leaveAfter;
            if (!request.hungUp && request.outputTokens < m_wanted[running.index]) continue;
            request.reason = request.hungUp ? engine::FinishReason::Cancelled : engine::FinishReason::Length;
            request.endNs = m_nowNs;
            ++m_done;
        }
        std::erase_if(m_running,
                      [this](const Running& running) { return m_data.requests[running.index].endNs.has_value(); });
    }
    void sample() {
        constexpr std::int64_t periodNs = 100'000'000;
        if (m_nowNs - m_sampledNs < periodNs) return;
        const auto wallNs = static_cast<double>(m_nowNs - m_sampledNs);
        SampleRecord sample;
        sample.atNs = m_nowNs;
        sample.queued = static_cast<std::int64_t>(m_queue.size());
        sample.prefilling = sample.decoding = sample.blocksReferenced = 0;
        for (const Running& running : m_running) {
            const RequestRecord& request = m_data.requests[running.index];
            ++(request.prefillEndNs ? *sample.decoding : *sample.prefilling);
            *sample.blocksReferenced += (running.prefilled + request.outputTokens) / blockTokens + 1;
        }
        sample.blocksTotal = blocksTotal;
        m_cached = std::min(m_cached + m_prefilled / 64, blocksTotal - *sample.blocksReferenced);
        sample.blocksCached = m_cached;
        sample.deviceUse = std::min(m_busyNs / wallNs, 1.0);
        sample.prefillTokensPerS = static_cast<double>(m_prefilled) * nsPerS / wallNs;
        sample.decodeTokensPerS = static_cast<double>(m_decoded) * nsPerS / wallNs;
        if (m_given.machineIsKnown) {
            sample.machineCpu = std::min(1.0, *sample.deviceUse * 0.8 + 0.05 + 0.1 * uniform());
            sample.processCpu = *sample.deviceUse * 7.5;
            if (m_busyNs > 0) sample.achievedGbPerS = 24 + 6 * uniform();
            sample.watts = 22 + 55 * *sample.deviceUse + 4 * uniform();
        }
        m_data.samples.push_back(sample);
        m_sampledNs = m_nowNs;
        m_prefilled = m_decoded = 0;
        m_busyNs = 0;
    }

    const Simulation m_given;
    std::mt19937_64 m_random;
    SessionData m_data;
    std::vector<std::int64_t> m_wanted;
    std::vector<std::size_t> m_queue;
    std::vector<Running> m_running;
    std::size_t m_next = 0, m_done = 0;
    std::int64_t m_nowNs = 0, m_sampledNs = 0, m_warmupEndNs = 0;
    std::int64_t m_prefilled = 0, m_decoded = 0, m_cached = 0;
    double m_busyNs = 0;
};

}  // namespace

SessionData simulate(const Simulation& simulation) { return Simulator(simulation).run(); }

}  // namespace firsttoken::tests
