#include <cstdlib>

#include "engine/compute/cpu/block_fields.h"
#include "engine/compute/cpu/kernels.h"

namespace firsttoken::engine {

namespace {

/// Writes one weight row into its lane of a panel.
class LaneWriter {
public:
    LaneWriter(const Panel& panel, std::size_t lane) : m_panel(panel), m_lane(lane) {}
    void quant(std::size_t column, int value) const {
        m_panel.quants[(column / 4) * (4 * kPanelRows) + m_lane * 4 + column % 4] = static_cast<std::uint8_t>(value);
    }
    void scale(std::size_t group, float scale) const { m_panel.scales[group * kPanelRows + m_lane] = scale; }
    void offset(std::size_t group, float offset) const { m_panel.offsets[group * kPanelRows + m_lane] = offset; }

private:
    const Panel& m_panel;
    std::size_t m_lane;
};

int splitNibble(const std::byte* quants, std::size_t e) {
    const unsigned byte = loadByte(quants + e % 16);
    return static_cast<int>(e < 16 ? byte & 15U : byte >> 4);
}

void unpackQ4_0(const std::byte* row, std::size_t columns, const LaneWriter& out) {
    for (std::size_t b = 0; b < columns / 32; ++b, row += q4_0::kBytes) {
        const float scale = halfToFloat(loadHalf(row + q4_0::kScale));
        out.scale(b, scale);
        out.offset(b, -8.0F * scale);
        for (std::size_t e = 0; e < 32; ++e) out.quant(b * 32 + e, splitNibble(row + q4_0::kQuants, e));
    }
}

void unpackQ5_0(const std::byte* row, std::size_t columns, const LaneWriter& out) {
    for (std::size_t b = 0; b < columns / 32; ++b, row += q5_0::kBytes) {
        const float scale = halfToFloat(loadHalf(row + q5_0::kScale));
        const std::uint32_t high = loadWord(row + q5_0::kHigh);
        out.scale(b, scale);
        out.offset(b, -16.0F * scale);
        for (std::size_t e = 0; e < 32; ++e) {
            const int bit = static_cast<int>((high >> e) & 1U);
            out.quant(b * 32 + e, splitNibble(row + q5_0::kQuants, e) | (bit << 4));
        }
    }
}

void unpackQ8_0(const std::byte* row, std::size_t columns, const LaneWriter& out) {
    for (std::size_t b = 0; b < columns / 32; ++b, row += q8_0::kBytes) {
        out.scale(b, halfToFloat(loadHalf(row + q8_0::kScale)));
        for (std::size_t e = 0; e < 32; ++e) {
            out.quant(b * 32 + e, static_cast<int>(loadByte(row + q8_0::kQuants + e)));
        }
    }
}

/// Q4_K and Q5_K; `high` is the offset of Q5_K's fifth bits, 0 for Q4_K.
void unpackQ45K(const std::byte* row, std::size_t columns, std::size_t blockBytes, std::size_t high, std::size_t quants,
                const LaneWriter& out) {
    for (std::size_t block = 0; block < columns / 256; ++block, row += blockBytes) {
        const float scale = halfToFloat(loadHalf(row + q4_k::kScale));
        const float minimum = halfToFloat(loadHalf(row + q4_k::kMin));
        for (unsigned b = 0; b < 8; ++b) {
            const SubScale sub = subScale(row + q4_k::kSubScales, b);
            out.scale(block * 8 + b, scale * static_cast<float>(sub.scale));
            out.offset(block * 8 + b, -(minimum * static_cast<float>(sub.minimum)));
            for (std::size_t e = 0; e < 32; ++e) {
                const unsigned byte = loadByte(row + quants + 32 * (b / 2) + e);
                unsigned q = b % 2 == 0 ? byte & 15U : byte >> 4;
                if (high != 0) q |= ((loadByte(row + high + e) >> b) & 1U) << 4;
                out.quant(block * 256 + b * 32 + e, static_cast<int>(q));
            }
        }
    }
}

void unpackQ6_K(const std::byte* row, std::size_t columns, const LaneWriter& out) {
    for (std::size_t block = 0; block < columns / 256; ++block, row += q6_k::kBytes) {
        const float scale = halfToFloat(loadHalf(row + q6_k::kScale));
        for (std::size_t g = 0; g < 16; ++g) {
            const int sub = static_cast<std::int8_t>(loadByte(row + q6_k::kSubScales + g));
            out.scale(block * 16 + g, scale * static_cast<float>(sub));
            out.offset(block * 16 + g, -32.0F * (scale * static_cast<float>(sub)));
        }
        for (std::size_t e = 0; e < 256; ++e) {
            const std::size_t half = e / 128, k = (e % 128) / 32, l = e % 32;
            const unsigned low = loadByte(row + q6_k::kLow + 64 * half + 32 * (k & 1U) + l);
            const unsigned high = (loadByte(row + q6_k::kHigh + 32 * half + l) >> (2 * k)) & 3U;
            out.quant(block * 256 + e, static_cast<int>((k >= 2 ? low >> 4 : low & 15U) | (high << 4)));
        }
    }
}

}  // namespace

PanelKind panelKind(WeightFormat format) {
    switch (format) {
        case WeightFormat::Q4_0:
        case WeightFormat::Q4_K:
            return {32, 15, true};
        case WeightFormat::Q5_0:
        case WeightFormat::Q5_K:
            return {32, 31, true};
        case WeightFormat::Q6_K:
            return {16, 63, true};
        case WeightFormat::Q8_0:
            return {32, 0, false};
        case WeightFormat::F32:
        case WeightFormat::F16:
        case WeightFormat::BF16:
            break;
    }
    std::abort();  // float formats have no panels: the executor never asks
}

void unpackPanelPlain(WeightFormat format, const std::byte* const* rows, std::size_t columns, const Panel& panel) {
    for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
        const LaneWriter out(panel, lane);
        const std::byte* row = rows[lane];
        switch (format) {
            case WeightFormat::Q4_0:
                unpackQ4_0(row, columns, out);
                break;
            case WeightFormat::Q5_0:
                unpackQ5_0(row, columns, out);
                break;
            case WeightFormat::Q8_0:
                unpackQ8_0(row, columns, out);
                break;
            case WeightFormat::Q4_K:
                unpackQ45K(row, columns, q4_k::kBytes, 0, q4_k::kQuants, out);
                break;
            case WeightFormat::Q5_K:
                unpackQ45K(row, columns, q5_k::kBytes, q5_k::kHigh, q5_k::kQuants, out);
                break;
            case WeightFormat::Q6_K:
                unpackQ6_K(row, columns, out);
                break;
            case WeightFormat::F32:
            case WeightFormat::F16:
            case WeightFormat::BF16:
                break;
        }
    }
}

void panelProductPlain(PanelKind kind, const Panel& panel, std::size_t columns, const QuantRow* rows,
                       std::size_t rowCount, const Output& out) {
    const std::size_t group = kind.groupElements;
    for (std::size_t m = 0; m < rowCount; ++m) {
        const QuantRow& row = rows[m];
        const float* sums = group == 16 ? row.sums16 : row.sums32;
        float accumulators[kPanelRows] = {};
        for (std::size_t g = 0; g < columns / group; ++g) {
            const float rowScale = row.scales[g * group / kActivationBlock];
            std::int32_t products[kPanelRows] = {};
            for (std::size_t c = g * group; c < (g + 1) * group; c += 4) {
                const std::uint8_t* quants = panel.quants + (c / 4) * (4 * kPanelRows);
                for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
                    for (std::size_t i = 0; i < 4; ++i) {
                        const std::uint8_t quant = quants[lane * 4 + i];
                        const int weight = kind.maxQuant == 0 ? static_cast<std::int8_t>(quant) : quant;
                        products[lane] += weight * row.quants[c + i];
                    }
                }
            }
            for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
                const float scaled = rowScale * static_cast<float>(products[lane]);
                accumulators[lane] += panel.scales[g * kPanelRows + lane] * scaled;
                if (kind.hasOffset) accumulators[lane] += panel.offsets[g * kPanelRows + lane] * sums[g];
            }
        }
        for (std::size_t lane = 0; lane < out.count; ++lane) {
            out.values[m * out.stride + lane] = accumulators[lane] + (out.bias != nullptr ? out.bias[lane] : 0.0F);
        }
    }
}

}  // namespace firsttoken::engine
