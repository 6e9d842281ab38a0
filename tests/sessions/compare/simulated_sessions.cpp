#include "tests/sessions/compare/simulated_sessions.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace firsttoken::tests {

using namespace sessions;

namespace {

constexpr double nsPerMs = 1e6;

/// Standard normal values whose neighbours are alike.
class Correlated {
public:
    double next(std::mt19937_64& random) {
        constexpr double likeness = 0.6;
        m_last = likeness * m_last + std::sqrt(1 - likeness * likeness) * m_normal(random);
        return m_last;
    }

private:
    std::normal_distribution<double> m_normal;
    double m_last = 0;
};

SessionHeader headerOf(const SimulatedRun& run) {
    SessionHeader header;
    header.id = static_cast<SessionId>(run.noise);
    header.kind = SessionKind::Load;
    header.state = SessionState::Completed;
    header.modelPath = "/models/small.gguf";
    header.modelHash = "c0ffee";
    header.modelBytes = 1'000'000;
    header.effectiveProfile =
        R"({"model":{"precision":"as_stored"},"scheduler":{"max_batch_tokens":2048},"response":{"streaming":true},)"
        R"("slo":{"ttft_ms":400,"tpot_ms":null,"e2e_ms":null,"targets":["ttft p95 <= 400 ms"]}})";
    header.requestedProfile = header.effectiveProfile;
    header.arithmetic = "int8";
    header.isa = "avx2";
    header.workload = R"({"requests":300,"rate_per_s":10,"seed":)" + std::to_string(run.seed) + "}";
    header.seed = run.seed;
    header.machine = R"({"processor":"Some CPU","cores":8,"memory_bytes":34359738368,"system":"Linux 6.1"})";
    header.build = "0.1.0 g++ 12";
    return header;
}

void addSamples(SessionData& session, double speed, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    Correlated use;
    const std::int64_t peak = 600 + static_cast<std::int64_t>(20 * normal(random));
    const std::int64_t endNs = session.requests.back().endNs.value_or(0);
    for (std::int64_t at = 100'000'000; at <= endNs; at += 100'000'000) {
        SampleRecord sample;
        sample.atNs = at;
        sample.blocksTotal = 1000;
        sample.blocksReferenced = std::max<std::int64_t>(0, peak - static_cast<std::int64_t>(random() % 300));
        sample.deviceUse = std::clamp(0.6 * speed + 0.1 * use.next(random), 0.0, 1.0);
        session.samples.push_back(sample);
    }
}

}  // namespace

SessionData simulatedSession(const SimulatedRun& run) {
    std::mt19937_64 workload(run.seed);
    std::mt19937_64 random(run.noise * 7919 + 13);
    std::normal_distribution<double> normal;
    std::exponential_distribution<double> gap(10);
    Correlated queueNoise, prefillNoise, decodeNoise;
    const double speed = run.slowdown * std::exp(run.drift * normal(random));
    SessionData session;
    session.header = headerOf(run);
    double plannedMs = 0;
    for (std::size_t i = 0; i < run.requests; ++i) {
        plannedMs += 1000 * gap(workload);
        const double promptTokens = std::round(200 * std::exp(0.4 * normal(workload)));
        const auto deltas = 6 + static_cast<std::int64_t>(workload() % 8);
        const double queueMs = 30 * speed * std::exp(0.6 * queueNoise.next(random));
        const double prefillMs = promptTokens * speed * std::exp(0.25 * prefillNoise.next(random));
        const double decodeMs = 20 * speed * std::exp(0.15 * decodeNoise.next(random));
        RequestRecord request;
        request.number = static_cast<std::int64_t>(i) + 1;
        request.plannedNs = static_cast<std::int64_t>(plannedMs * nsPerMs);
        request.sentNs = request.plannedNs + 20'000;
        request.promptTokens = static_cast<std::int64_t>(promptTokens);
        if (run.failEvery > 0 && request.number % run.failEvery == 0) {
            request.reason = engine::FinishReason::Error;
            request.endNs = request.plannedNs + 1'000'000;
            session.requests.push_back(request);
            continue;
        }
        request.scheduledNs = request.plannedNs + static_cast<std::int64_t>(queueMs * nsPerMs);
        request.prefillEndNs = *request.scheduledNs + static_cast<std::int64_t>(prefillMs * nsPerMs);
        double atMs = queueMs + prefillMs;
        for (std::int64_t delta = 0; delta < deltas; ++delta) {
            atMs += decodeMs * std::exp(0.2 * normal(random));
            request.deltaNs.push_back(request.plannedNs + static_cast<std::int64_t>(atMs * nsPerMs));
        }
        request.firstTokenNs = request.deltaNs.front();
        request.endNs = request.deltaNs.back();
        request.outputTokens = deltas;
        request.cachedTokens = request.number % 4 == 0 ? request.promptTokens / 2 : 0;
        request.reason = engine::FinishReason::Length;
        session.requests.push_back(std::move(request));
    }
    addSamples(session, speed, random);
    return session;
}

std::vector<SessionData> simulatedArm(std::size_t count, bool sameSeed, std::uint64_t noise, double slowdown) {
    std::vector<SessionData> arm;
    for (std::size_t i = 0; i < count; ++i) {
        SimulatedRun run;
        run.seed = sameSeed ? 1 : i + 1;
        run.noise = noise * 1000 + i + 1;
        run.slowdown = slowdown;
        arm.push_back(simulatedSession(run));
    }
    return arm;
}

}  // namespace firsttoken::tests
