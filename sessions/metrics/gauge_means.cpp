#include "sessions/metrics/gauge_means.h"

#include <algorithm>

namespace firsttoken::sessions {

namespace {

class WeightedMean {
public:
    void add(const std::optional<double>& value, double weight) {
        if (!value || !(weight > 0)) return;
        m_sum += *value * weight;
        m_weight += weight;
    }
    std::optional<double> mean() const { return m_weight > 0 ? std::optional(m_sum / m_weight) : std::nullopt; }
    std::optional<double> sum() const { return m_weight > 0 ? std::optional(m_sum) : std::nullopt; }

private:
    double m_sum = 0;
    double m_weight = 0;
};

void addBlocks(const SampleRecord& sample, KvMetrics& kv) {
    if (sample.blocksTotal) kv.total = std::max(kv.total.value_or(0), *sample.blocksTotal);
    if (!sample.blocksReferenced) return;
    kv.peakReferenced = std::max(kv.peakReferenced.value_or(0), *sample.blocksReferenced);
    if (!sample.blocksTotal || *sample.blocksTotal <= 0) return;
    const double fraction = static_cast<double>(*sample.blocksReferenced) / static_cast<double>(*sample.blocksTotal);
    kv.peakFraction = std::max(kv.peakFraction.value_or(0), fraction);
}

}  // namespace

void addGauges(const SessionData& session, const MeasuredWindow& window, SessionMetrics& metrics) {
    WeightedMean use, gbPerS, topPerS, watts;
    // The first sample of a load covers the time since the axis' zero; that of a chat, nobody knows how much.
    std::optional<std::int64_t> before;
    if (session.header.kind == SessionKind::Load) before = 0;
    for (const SampleRecord& sample : session.samples) {
        const bool inside = sample.atNs >= window.startNs && sample.atNs <= window.endNs;
        const auto from = std::max(before.value_or(sample.atNs), window.startNs);
        const auto within = elapsedNs(from, std::min(sample.atNs, window.endNs));
        before = sample.atNs;
        // Also the sample after a load that ended between two: its peak was within.
        if (inside || within.value_or(0) > 0) addBlocks(sample, metrics.kv);
        if (!within) continue;
        const double seconds = static_cast<double>(*within) / 1e9;
        const double busy = seconds * sample.deviceUse.value_or(0);
        use.add(sample.deviceUse, seconds);
        gbPerS.add(sample.achievedGbPerS, busy);
        topPerS.add(sample.achievedTopPerS, busy);
        watts.add(sample.watts, seconds);
    }
    metrics.deviceUse = use.mean();
    metrics.achievedGbPerS = gbPerS.mean();
    metrics.achievedTopPerS = topPerS.mean();
    metrics.energyJ = watts.sum();
}

}  // namespace firsttoken::sessions
