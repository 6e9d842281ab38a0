#include <algorithm>
#include <cmath>

#include "sessions/metrics/measured_window.h"
#include "sessions/metrics/session_metrics.h"

namespace firsttoken::sessions {

namespace {

constexpr std::int64_t samplePeriodNs = 100'000'000;

/// The buckets' places on the axis.
struct Grid {
    std::int64_t startNs = 0;
    std::int64_t bucketNs = 1;
    std::size_t count = 0;

    /// In buckets since the start, cut to the grid.
    double position(std::int64_t atNs) const {
        const double since = static_cast<double>(atNs) - static_cast<double>(startNs);
        return std::clamp(since / static_cast<double>(bucketNs), 0.0, static_cast<double>(count));
    }
    std::size_t bucket(std::int64_t atNs) const {
        return std::min(static_cast<std::size_t>(position(atNs)), count - 1);
    }
};

/// An amount a bucket. Spans are noted by their ends only, so that long ones cost no more than short ones.
class Amounts {
public:
    explicit Amounts(const Grid& grid) : m_grid(grid), m_amounts(grid.count), m_changes(grid.count + 1) {}

    void addAt(std::int64_t atNs, double amount) { m_amounts[m_grid.bucket(atNs)] += amount; }
    /// `height` times the part of each bucket that lies between the two.
    void addSpan(std::int64_t fromNs, std::int64_t toNs, double height) {
        const double from = m_grid.position(fromNs);
        const double to = m_grid.position(toNs);
        if (!(to > from)) return;
        const auto first = static_cast<std::size_t>(from);
        const auto last = std::min(static_cast<std::size_t>(to), m_grid.count - 1);
        if (first == last) {
            m_amounts[first] += height * (to - from);
            return;
        }
        m_amounts[first] += height * (static_cast<double>(first + 1) - from);
        m_amounts[last] += height * (to - static_cast<double>(last));
        m_changes[first + 1] += height;
        m_changes[last] -= height;
    }
    /// `amount`, spread evenly.
    void spread(std::int64_t fromNs, std::int64_t toNs, double amount) {
        const double width = m_grid.position(toNs) - m_grid.position(fromNs);
        if (width > 0)
            addSpan(fromNs, toNs, amount / width);
        else
            addAt(fromNs, amount);
    }
    std::vector<double> take() && {
        double height = 0;
        for (std::size_t i = 0; i < m_amounts.size(); ++i) {
            height += m_changes[i];
            m_amounts[i] += height;
        }
        return std::move(m_amounts);
    }

private:
    const Grid& m_grid;
    std::vector<double> m_amounts, m_changes;
};

/// The mean of a gauge: each sample stands for the time since the one before it.
class GaugeMean {
public:
    explicit GaugeMean(const Grid& grid) : m_sums(grid), m_times(grid) {}

    void add(std::int64_t fromNs, std::int64_t toNs, const std::optional<double>& value) {
        if (!value || !std::isfinite(*value)) return;
        m_known = true;
        m_sums.addSpan(fromNs, toNs, *value);
        m_times.addSpan(fromNs, toNs, 1);
    }
    bool known() const { return m_known; }
    template <class Set>
    void give(std::vector<TimelineBucket>& buckets, const Set& set) && {
        const std::vector<double> sums = std::move(m_sums).take();
        const std::vector<double> times = std::move(m_times).take();
        for (std::size_t i = 0; i < buckets.size(); ++i) {
            if (times[i] > 1e-9) set(buckets[i], sums[i] / times[i]);
        }
    }

private:
    Amounts m_sums, m_times;
    bool m_known = false;
};

std::optional<double> asReal(const std::optional<std::int64_t>& value) {
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<double> share(const std::optional<std::int64_t>& part, const std::optional<std::int64_t>& whole) {
    if (!part || !whole || *whole <= 0) return std::nullopt;
    return static_cast<double>(*part) / static_cast<double>(*whole);
}

struct StateMeans {
    explicit StateMeans(const Grid& grid) : queued(grid), prefilling(grid), decoding(grid) {}
    GaugeMean queued, prefilling, decoding;
};

void addSamples(const SessionData& session, const Grid& grid, StateMeans& states,
                std::vector<TimelineBucket>& buckets) {
    GaugeMean referenced(grid), cached(grid), use(grid), cpu(grid), gbPerS(grid), watts(grid);
    std::optional<std::int64_t> before;
    for (const SampleRecord& sample : session.samples) {
        const std::int64_t to = sample.atNs;
        const std::int64_t from = before.value_or(std::max(to, INT64_MIN + samplePeriodNs) - samplePeriodNs);
        before = to;
        states.queued.add(from, to, asReal(sample.queued));
        states.prefilling.add(from, to, asReal(sample.prefilling));
        states.decoding.add(from, to, asReal(sample.decoding));
        referenced.add(from, to, share(sample.blocksReferenced, sample.blocksTotal));
        cached.add(from, to, share(sample.blocksCached, sample.blocksTotal));
        use.add(from, to, sample.deviceUse);
        cpu.add(from, to, sample.machineCpu);
        gbPerS.add(from, to, sample.achievedGbPerS);
        watts.add(from, to, sample.watts);
    }
    std::move(referenced).give(buckets, [](TimelineBucket& bucket, double v) { bucket.kvReferencedFraction = v; });
    std::move(cached).give(buckets, [](TimelineBucket& bucket, double v) { bucket.kvCachedFraction = v; });
    std::move(use).give(buckets, [](TimelineBucket& bucket, double v) { bucket.deviceUse = v; });
    std::move(cpu).give(buckets, [](TimelineBucket& bucket, double v) { bucket.machineCpu = v; });
    std::move(gbPerS).give(buckets, [](TimelineBucket& bucket, double v) { bucket.achievedGbPerS = v; });
    std::move(watts).give(buckets, [](TimelineBucket& bucket, double v) { bucket.watts = v; });
}

/// Sequences by state where no sample tells: each request counts for the part of a bucket that it was in the state.
void addStatesOfRequests(const SessionData& session, const Grid& grid, std::int64_t lastNs,
                         std::vector<TimelineBucket>& buckets) {
    Amounts queued(grid), prefilling(grid), decoding(grid);
    for (const RequestRecord& request : session.requests) {
        const std::int64_t end = request.endNs.value_or(lastNs);
        const std::int64_t prefilled = request.prefillEndNs.value_or(request.firstTokenNs.value_or(end));
        const std::int64_t scheduled = request.scheduledNs.value_or(end);
        queued.addSpan(request.sentNs.value_or(request.plannedNs), scheduled, 1);
        prefilling.addSpan(scheduled, prefilled, 1);
        decoding.addSpan(prefilled, end, 1);
    }
    const auto q = std::move(queued).take();
    const auto p = std::move(prefilling).take();
    const auto d = std::move(decoding).take();
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        // Adding and taking away leaves a rounding, which is no part of a sequence.
        const auto rounded = [](double value) { return std::max(0.0, std::round(value * 1e9) / 1e9); };
        buckets[i].queued = rounded(q[i]);
        buckets[i].prefilling = rounded(p[i]);
        buckets[i].decoding = rounded(d[i]);
    }
}

void addTokens(const SessionData& session, const Grid& grid, std::vector<TimelineBucket>& buckets) {
    Amounts prompts(grid), outputs(grid);
    for (const RequestRecord& request : session.requests) {
        ++buckets[grid.bucket(request.plannedNs)].started;
        if (request.endNs) ++buckets[grid.bucket(*request.endNs)].ended;
        const auto prefilled = request.prefillEndNs ? request.prefillEndNs : request.firstTokenNs;
        const auto computed = static_cast<double>(request.promptTokens) - static_cast<double>(request.cachedTokens);
        if (request.scheduledNs && prefilled && computed > 0) {
            prompts.spread(*request.scheduledNs, *prefilled, computed);
        }
        const auto deltas = static_cast<double>(request.deltaNs.size());
        for (const std::int64_t at : request.deltaNs) {
            outputs.addAt(at, static_cast<double>(request.outputTokens) / deltas);
        }
    }
    const auto in = std::move(prompts).take();
    const auto out = std::move(outputs).take();
    const double seconds = static_cast<double>(grid.bucketNs) / 1e9;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        buckets[i].promptTokensPerS = std::max(0.0, std::round(in[i] * 1e6) / 1e6) / seconds;
        buckets[i].outputTokensPerS = out[i] / seconds;
    }
}

std::optional<Grid> gridOf(const SessionData& session, const SessionExtent& extent, std::int64_t bucketNs) {
    Grid grid;
    grid.startNs = extent.firstNs;
    if (session.header.kind == SessionKind::Load) grid.startNs = std::min<std::int64_t>(grid.startNs, 0);
    const auto length = elapsedNs(grid.startNs, extent.lastNs);
    if (!length || (session.requests.empty() && session.samples.empty())) return std::nullopt;
    grid.bucketNs = std::max({bucketNs, std::int64_t{1}, *length / mostBuckets + 1});
    grid.count = static_cast<std::size_t>(*length / grid.bucketNs + 1);
    return grid;
}

}  // namespace

Timeline timeline(const SessionData& session, std::int64_t bucketNs) {
    Timeline result;
    const SessionExtent extent = extentOf(session);
    const auto grid = gridOf(session, extent, bucketNs);
    result.bucketNs = grid ? grid->bucketNs : std::max<std::int64_t>(bucketNs, 1);
    if (!grid) return result;
    result.buckets.resize(grid->count);
    for (std::size_t i = 0; i < grid->count; ++i) {
        result.buckets[i].startNs = grid->startNs + static_cast<std::int64_t>(i) * grid->bucketNs;
    }
    StateMeans states(*grid);
    addSamples(session, *grid, states, result.buckets);
    if (states.queued.known() || states.prefilling.known() || states.decoding.known()) {
        std::move(states.queued).give(result.buckets, [](TimelineBucket& bucket, double v) { bucket.queued = v; });
        std::move(states.prefilling).give(result.buckets, [](TimelineBucket& b, double v) { b.prefilling = v; });
        std::move(states.decoding).give(result.buckets, [](TimelineBucket& b, double v) { b.decoding = v; });
    } else {
        addStatesOfRequests(session, *grid, extent.lastNs, result.buckets);
    }
    addTokens(session, *grid, result.buckets);
    return result;
}

}  // namespace firsttoken::sessions
