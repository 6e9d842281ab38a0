#include "sessions/load/gauge_series.h"

#include <algorithm>

namespace firsttoken::sessions {

using engine::Nanoseconds;

namespace {

constexpr std::size_t mostOpen = 600;  ///< a minute: then a sample is given out as far as it is known
constexpr double nsPerS = 1e9;

}  // namespace

void GaugeSeries::share(Interval& interval, const Work& work) {
    const Nanoseconds from = std::max(interval.startNs, work.startNs);
    const Nanoseconds to = std::min(interval.sample.atNs, work.endNs);
    if (to <= from) return;
    const auto within = static_cast<double>(to - from);
    const double part = within / static_cast<double>(work.endNs - work.startNs);
    interval.busyNs += within;
    // A peak between two samples counts: short loads would show none at all.
    auto& referenced = interval.sample.blocksReferenced;
    if (referenced) referenced = std::max(*referenced, work.blocksReferenced);
    interval.work.prefillRows += part * work.prefillRows;
    interval.work.decodeRows += part * work.decodeRows;
    interval.work.bytes += part * work.bytes;
    interval.work.multiplyAdds += part * work.multiplyAdds;
}

void GaugeSeries::step(Nanoseconds endNs, const engine::StepEvent& step) {
    Work work;
    work.startNs = endNs - std::max<Nanoseconds>(step.durationNs, 1);
    work.endNs = endNs;
    work.blocksReferenced = step.blocksReferenced;
    work.prefillRows = step.prefillRows;
    work.decodeRows = step.decodeRows;
    work.bytes = static_cast<double>(step.weightBytes) + static_cast<double>(step.kvBytesRead);
    work.multiplyAdds = static_cast<double>(step.multiplyAdds);
    for (Interval& interval : m_open) share(interval, work);
    m_knownNs = std::max(m_knownNs, endNs);
    if (endNs > m_lastNs) m_ahead.push_back(work);
}

void GaugeSeries::stepsLost() {
    m_lost = true;
    for (Interval& interval : m_open) interval.known = false;
}

void GaugeSeries::sample(SampleRecord sample, const engine::EngineSnapshot& gauges, bool idle) {
    sample.queued = gauges.queued;
    sample.prefilling = gauges.prefilling;
    sample.decoding = gauges.decoding;
    sample.blocksTotal = gauges.blocksTotal;
    sample.blocksReferenced = gauges.blocksReferenced;
    sample.blocksCached = gauges.blocksCached;
    Interval interval;
    interval.startNs = m_lastNs;
    interval.known = !std::exchange(m_lost, false);
    m_lastNs = sample.atNs;
    interval.sample = std::move(sample);
    for (const Work& work : m_ahead) share(interval, work);
    std::erase_if(m_ahead, [this](const Work& work) { return work.endNs <= m_lastNs; });
    if (idle) m_knownNs = std::max(m_knownNs, m_lastNs);
    m_open.push_back(std::move(interval));
}

void GaugeSeries::fillRates(Interval& interval) {
    const auto wallNs = static_cast<double>(interval.sample.atNs - interval.startNs);
    if (!interval.known || wallNs <= 0) return;
    interval.sample.deviceUse = std::min(interval.busyNs / wallNs, 1.0);
    interval.sample.prefillTokensPerS = interval.work.prefillRows * nsPerS / wallNs;
    interval.sample.decodeTokensPerS = interval.work.decodeRows * nsPerS / wallNs;
    if (interval.busyNs <= 0) return;  // achieved by nothing: not zero, but unknown
    interval.sample.achievedGbPerS = interval.work.bytes / interval.busyNs;  // bytes per ns are GB/s
    interval.sample.achievedTopPerS = 2 * interval.work.multiplyAdds / interval.busyNs / 1000;
}

std::vector<SampleRecord> GaugeSeries::take(bool last) {
    std::vector<SampleRecord> samples;
    while (!m_open.empty() && (last || m_open.front().sample.atNs <= m_knownNs || m_open.size() > mostOpen)) {
        fillRates(m_open.front());
        samples.push_back(std::move(m_open.front().sample));
        m_open.pop_front();
    }
    return samples;
}

}  // namespace firsttoken::sessions
