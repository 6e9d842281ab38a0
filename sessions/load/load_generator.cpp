#include "sessions/load/load_generator.h"

#include <cmath>

namespace firsttoken::sessions {

using engine::Nanoseconds;
using engine::RequestId;
using engine::RequestUpdate;

namespace {

/// With nothing planned only a wake() ends a wait; this is its longest.
constexpr Nanoseconds idleWaitNs = 3'600'000'000'000;

Nanoseconds toNs(double seconds) { return std::llround(seconds * 1e9); }

}  // namespace

LoadGenerator::LoadGenerator(RequestPlan plan, LoadTarget& target, LoadClock& clock, const Setup& setup)
    : m_plan(std::move(plan)),
      m_target(target),
      m_clock(clock),
      m_setup(setup),
      m_live(std::make_shared<LiveRequests>(clock, setup.startNs, setup.outputTextBytes)),
      m_made(static_cast<std::int64_t>(m_plan.requests.size())) {}

std::optional<std::int64_t> LoadGenerator::planned() const {
    if (m_plan.more) return std::nullopt;
    return static_cast<std::int64_t>(m_plan.requests.size());
}

bool LoadGenerator::run(const std::stop_token& stop) {
    const std::stop_callback wakeOnStop(stop, [this] { m_clock.wake(); });
    tellWarmup();
    startClients();
    bool cancelled = false;
    for (;;) {
        obey(m_live->takeSignals());
        if (!cancelled && stop.stop_requested()) {
            cancelled = true;
            for (const RequestId id : m_live->inFlight()) m_target.cancel(id);
        }
        if (!cancelled) sendDue();
        if ((cancelled || nothingToSend()) && m_live->settled()) break;
        m_clock.waitUntil(cancelled ? m_clock.now() + idleWaitNs : nextDeadline());
    }
    for (const RequestId id : m_abandoned) m_target.cancel(id);
    return !cancelled;
}

/// What is known before the run; a closed loop's warm-up by requests ends when the next one is planned.
void LoadGenerator::tellWarmup() {
    const Warmup& warmup = m_plan.workload.warmup;
    if (warmup.seconds > 0) m_live->setWarmupEnd(toNs(warmup.seconds));
    if (warmup.requests > 0 && m_plan.workload.arrivals.isOpen()) {
        m_live->setWarmupEnd(m_plan.requests[static_cast<std::size_t>(warmup.requests)].plannedNs);
    }
}

void LoadGenerator::startClients() {
    const Arrivals& arrivals = m_plan.workload.arrivals;
    if (arrivals.isOpen()) return;
    for (std::int64_t client = 0; client < arrivals.clients; ++client) {
        const double share = static_cast<double>(client) / static_cast<double>(arrivals.clients);
        m_due.insert({toNs(arrivals.rampS * share), client});
    }
}

void LoadGenerator::obey(const LiveRequests::Signals& pending) {
    for (const auto& [number, id] : pending.hangUps) {
        m_target.disconnect(id);
        if (m_target.tellsEndAfterDisconnect()) continue;
        m_abandoned.push_back(id);
        m_live->endUntold(number, m_clock.now());
    }
    if (!pending.hangUps.empty()) m_clock.wake();  // for the ends that were just added
    for (const auto& [number, endNs] : pending.ends) {
        const auto found = m_clients.find(number);
        if (found == m_clients.end()) continue;
        m_due.insert({endNs + found->second.thinkNs, found->second.client});
        m_clients.erase(found);
    }
}

void LoadGenerator::sendDue() {
    const auto isDue = [this](Nanoseconds plannedNs) { return m_setup.startNs + plannedNs <= m_clock.now(); };
    if (m_plan.workload.arrivals.isOpen()) {
        while (m_next < m_plan.requests.size() && isDue(m_plan.requests[m_next].plannedNs)) {
            PlannedRequest& request = m_plan.requests[m_next++];
            const Nanoseconds plannedNs = request.plannedNs;
            send(std::move(request), plannedNs);
        }
        return;
    }
    while (!m_due.empty() && isDue(m_due.begin()->plannedNs)) {
        const Due due = *m_due.begin();
        m_due.erase(m_due.begin());
        sendClosed(due);
    }
    makeAhead();
}

void LoadGenerator::sendClosed(const Due& due) {
    const auto& duration = m_plan.workload.durationS;
    if (duration && due.plannedNs >= toNs(*duration)) return;  // this client has done its part
    PlannedRequest request;
    if (m_next < m_plan.requests.size()) {
        request = std::move(m_plan.requests[m_next++]);
    } else if (m_plan.more) {
        if (m_ahead.empty()) m_ahead.push_back(m_plan.more->request(++m_made));
        request = std::move(m_ahead.front());
        m_ahead.pop_front();
    } else {
        return;
    }
    const std::int64_t warmup = m_plan.workload.warmup.requests;
    if (warmup > 0 && request.number == warmup + 1) m_live->setWarmupEnd(due.plannedNs);
    m_clients[request.number] = {due.client, request.thinkNs};
    send(std::move(request), due.plannedNs);
}

/// Requests of an endless closed loop are made when there is time, not when they are due.
void LoadGenerator::makeAhead() {
    if (!m_plan.more || m_next < m_plan.requests.size()) return;
    const auto wanted = static_cast<std::size_t>(m_plan.workload.arrivals.clients);
    while (m_ahead.size() < wanted && nextDeadline() > m_clock.now()) {
        m_ahead.push_back(m_plan.more->request(++m_made));
    }
}

void LoadGenerator::send(PlannedRequest request, Nanoseconds plannedNs) {
    RequestRecord record;
    record.number = request.number;
    record.plannedNs = plannedNs;
    record.sentNs = m_clock.now() - m_setup.startNs;
    record.promptTokens = static_cast<std::int64_t>(request.prompt.size());
    record.prefixGroup = request.prefixGroup;
    if (m_setup.keepPrompts) record.prompt = std::move(request.text);
    m_live->add(std::move(record), request.outputTokens, request.hangUpAfter);

    LoadTarget::Submission submission;
    submission.prompt = std::move(request.prompt);
    submission.maxTokens = request.outputTokens;
    submission.samplingSeed = request.samplingSeed;
    const auto sink = [live = m_live, number = request.number](const RequestUpdate& update) {
        live->update(number, update);
    };
    m_live->setId(request.number, m_target.submit(std::move(submission), sink));
}

bool LoadGenerator::nothingToSend() const {
    if (m_plan.workload.arrivals.isOpen()) return m_next == m_plan.requests.size();
    return m_due.empty() || (!m_plan.more && m_next == m_plan.requests.size());
}

Nanoseconds LoadGenerator::nextDeadline() const {
    if (nothingToSend()) return m_clock.now() + idleWaitNs;
    const bool open = m_plan.workload.arrivals.isOpen();
    return m_setup.startNs + (open ? m_plan.requests[m_next].plannedNs : m_due.begin()->plannedNs);
}

}  // namespace firsttoken::sessions
