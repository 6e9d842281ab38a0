#pragma once

#include <deque>
#include <vector>

#include "engine/engine.h"
#include "sessions/session_records.h"

namespace firsttoken::sessions {

/// Samples of an engine's gauges at regular moments, with rates from its steps. A step that is still running when a
/// sample is taken is known only later, so a sample is complete, and given out, once the steps of its interval are:
/// a step counts in each interval by the part of its time that lies there. One thread.
class GaugeSeries {
public:
    /// `startNs`: where the first interval begins.
    explicit GaugeSeries(engine::Nanoseconds startNs) : m_lastNs(startNs) {}

    /// A step that ended at `endNs`. In order.
    void step(engine::Nanoseconds endNs, const engine::StepEvent& step);
    /// Steps were lost: rates of intervals not yet given out are unknown.
    void stepsLost();
    /// `sample` with its moment and what else is known of it; `idle`: no step is running then. In order.
    void sample(SampleRecord sample, const engine::EngineSnapshot& gauges, bool idle);
    /// Samples that are complete; all of them with `last`.
    std::vector<SampleRecord> take(bool last);

private:
    struct Work {
        engine::Nanoseconds startNs = 0, endNs = 0;
        std::int64_t blocksReferenced = 0;  ///< after it
        double prefillRows = 0, decodeRows = 0, bytes = 0, multiplyAdds = 0;
    };
    struct Interval {
        SampleRecord sample;
        engine::Nanoseconds startNs = 0;
        double busyNs = 0;
        Work work;
        bool known = true;  ///< no step was lost
    };
    static void share(Interval& interval, const Work& work);
    static void fillRates(Interval& interval);

    engine::Nanoseconds m_lastNs;       ///< end of the last interval
    engine::Nanoseconds m_knownNs = 0;  ///< up to here every step is known
    bool m_lost = false;                ///< since the last sample
    std::deque<Interval> m_open;
    std::vector<Work> m_ahead;  ///< steps that reach beyond the last interval
};

}  // namespace firsttoken::sessions
