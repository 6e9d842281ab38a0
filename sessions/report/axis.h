#pragma once

#include <vector>

namespace firsttoken::sessions {

/// One direction of a chart: from low to high, with at most a few round values to label.
struct Axis {
    bool logarithmic = false;
    double low = 0;
    double high = 1;
    std::vector<double> ticks;  ///< ascending, within low … high

    /// 0 at low … 1 at high; values outside are put at the nearer end.
    double place(double value) const;
};

/// From 0 to the round value at or above `greatest`; at most four ticks.
Axis linearAxis(double greatest);
/// From the round value at or below `least` to that at or above `greatest`, both above 0; at most four ticks.
Axis logarithmicAxis(double least, double greatest);
/// From `low` to `high` exactly, with at most `most` ticks at round values.
Axis exactAxis(double low, double high, int most);

}  // namespace firsttoken::sessions
