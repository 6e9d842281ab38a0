#include "sessions/report/chart_scales.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace firsttoken::sessions {

namespace {

/// Least and greatest of values above 0.
struct Range {
    std::optional<double> low, high;
    void take(std::optional<double> value) {
        if (!value || !std::isfinite(*value)) return;
        if (*value > 0) low = std::min(low.value_or(*value), *value);
        high = std::max(high.value_or(*value), *value);
    }
};

Axis shareAxis() {
    Axis axis;
    axis.ticks = {0, 0.5, 1};
    return axis;
}

}  // namespace

ChartScales chartScales(std::span<const SessionView> views) {
    ChartScales scales;
    Range ttft, output, prompt, sequences, gbPerS, watts;
    double startS = 0, endS = 0;
    for (const SessionView& view : views) {
        startS = std::min(startS, view.startS);
        endS = std::max(endS, view.endS);
        for (const RequestRecord& request : view.data->requests) ttft.take(view.ttftMs(request));
        if (view.yardstick.slo) ttft.take(view.yardstick.slo->ttftMs);
        for (const TimelineBucket& bucket : view.timeline.buckets) {
            output.take(bucket.outputTokensPerS);
            prompt.take(bucket.promptTokensPerS);
            sequences.take(bucket.queued.value_or(0) + bucket.prefilling.value_or(0) + bucket.decoding.value_or(0));
            gbPerS.take(bucket.achievedGbPerS);
            watts.take(bucket.watts);
        }
    }
    constexpr int mostTimeTicks = 8;
    scales.time = exactAxis(startS, std::max(endS, startS + 1), mostTimeTicks);
    scales.ttft = logarithmicAxis(ttft.low.value_or(10), ttft.high.value_or(1000));
    scales.outputRate = linearAxis(output.high.value_or(1));
    scales.promptRate = linearAxis(prompt.high.value_or(1));
    scales.sequences = linearAxis(std::max(sequences.high.value_or(0), 1.0));
    scales.share = shareAxis();
    scales.gbPerS = linearAxis(gbPerS.high.value_or(1));
    scales.watts = linearAxis(watts.high.value_or(1));
    scales.hasGbPerS = gbPerS.high.has_value();
    scales.hasWatts = watts.high.has_value();
    return scales;
}

}  // namespace firsttoken::sessions
