#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/events.h"

namespace firsttoken::engine {

/// Learns how long a step takes: t = a + b * prefill rows + c * decode rows. a and c come from steps without
/// prefill, b from steps with it, for steps with and without decodes apart (rows beside decodes may be nearly free).
/// Newer steps count more; a single outlier moves little. Pure arithmetic, no clock.
class StepTimeModel {
public:
    /// A measured step. Steps without rows, or a duration below 1 ns, are ignored.
    void observe(std::uint32_t prefillRows, std::uint32_t decodeRows, Nanoseconds duration);

    bool knowsDecode() const { return m_decodeSteps > 0; }
    bool knowsPrefill() const { return m_alone.steps > 0 || m_beside.steps > 0; }
    /// Of a step with decodes only; 0: unknown.
    double decodeStepNs(std::uint32_t decodeRows) const;
    /// One prefill row's share of a step; 0: unknown.
    double prefillRowNs(bool besideDecodes) const;
    /// Prefill rows whose share of a step is about `budgetNs`. 0: unknown, or not even one.
    std::uint32_t prefillRowsWithin(double budgetNs, bool besideDecodes) const;

private:
    struct Average {
        double value = 0;
        std::uint64_t steps = 0;
        void add(double sample);
    };
    struct DecodeStep {
        double rows = 0;
        double ns = 0;
    };
    void fitDecode();

    static constexpr std::size_t kept = 32;
    std::array<DecodeStep, kept> m_decodes;  ///< the latest steps without prefill, a ring
    std::uint64_t m_decodeSteps = 0;
    double m_base = 0;          ///< a
    double m_perDecodeRow = 0;  ///< c
    Average m_alone;            ///< b of steps without decodes
    Average m_beside;           ///< b of steps with decodes
};

}  // namespace firsttoken::engine
