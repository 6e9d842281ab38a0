#include <math.h>  // lgamma_r: std::lgamma writes a global

#include <cmath>
#include <limits>

#include "engine/statistics.h"

namespace firsttoken::engine {

namespace {

double logGamma(double x) {
    int sign = 0;
    return lgamma_r(x, &sign);
}

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz' method. Converges
/// fast for x < (a + 1)/(a + b + 2).
double betaFraction(double a, double b, double x) {
    constexpr double tiny = 1e-300;
    const auto away = [](double value) { return std::abs(value) < tiny ? tiny : value; };
    double c = 1;
    double d = 1 / away(1 - (a + b) * x / (a + 1));
    double result = d;
    for (int m = 1; m <= 10'000; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away(1 + even * d);
        c = away(1 + even / c);
        result *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away(1 + odd * d);
        c = away(1 + odd / c);
        const double step = d * c;
        result *= step;
        if (std::abs(step - 1) < 1e-15) break;
    }
    return result;
}

/// The regularised incomplete beta function; `rest` = 1 - x, where that is known better.
double incompleteBeta(double a, double b, double x, double rest) {
    if (x <= 0) return 0;
    if (rest <= 0) return 1;
    const double logFront = logGamma(a + b) - logGamma(a) - logGamma(b) + a * std::log(x) + b * std::log(rest);
    if (x < (a + 1) / (a + b + 2)) return std::exp(logFront) * betaFraction(a, b, x) / a;
    return 1 - std::exp(logFront) * betaFraction(b, a, rest) / b;
}

}  // namespace

double studentT(double t, double freedom) {
    if (!(freedom > 0) || std::isnan(t)) return std::numeric_limits<double>::quiet_NaN();
    if (std::isinf(t)) return t > 0 ? 1 : 0;
    const double square = t * t;
    const double tail =
        0.5 * incompleteBeta(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square));
    return t > 0 ? 1 - tail : tail;
}

double studentTQuantile(double probability, double freedom) {
    if (!(probability > 0 && probability < 1) || !(freedom > 0)) return std::numeric_limits<double>::quiet_NaN();
    if (probability == 0.5) return 0;
    if (probability > 0.5) return -studentTQuantile(1 - probability, freedom);
    double low = -1;
    while (studentT(low, freedom) > probability && low > -1e150) low *= 2;
    double high = 0;
    for (int i = 0; i < 200 && high - low > 1e-14 * -low; ++i) {
        const double middle = (low + high) / 2;
        (studentT(middle, freedom) < probability ? low : high) = middle;
    }
    return (low + high) / 2;
}

}  // namespace firsttoken::engine
