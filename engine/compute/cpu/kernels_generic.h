#pragma once

#include "engine/compute/cpu/kernels.h"

/// The f32 kernels, written once over eight lanes and instantiated for each instruction set. One order of operations
/// for every result, whatever the number of rows: lane j sums the values at j, j + 8, …, then Simd::sum.
/// No standard container here (see CMakeLists.txt).
namespace firsttoken::engine {

template <class Simd>
struct GenericKernels {
    using Vector = typename Simd::Vector;
    static constexpr std::size_t kLanes = 8;

    /// e^x to about 1e-7; x is clamped to where the result is a normal number; NaN stays NaN.
    static Vector exponential(Vector x) {
        x = Simd::max(Simd::set1(-87.0F), Simd::min(Simd::set1(88.0F), x));
        const Vector n = Simd::roundToEven(Simd::mul(x, Simd::set1(1.44269504F)));
        Vector r = Simd::fma(n, Simd::set1(-0.693359375F), x);  // ln 2 in two parts, the first one short
        r = Simd::fma(n, Simd::set1(2.12194440e-4F), r);
        Vector p = Simd::set1(1.0F / 5040.0F);
        for (const float c : {1.0F / 720.0F, 1.0F / 120.0F, 1.0F / 24.0F, 1.0F / 6.0F, 0.5F, 1.0F, 1.0F}) {
            p = Simd::fma(p, r, Simd::set1(c));
        }
        return Simd::mul(p, Simd::powerOfTwo(n));
    }
    static Vector tangent(Vector x) {  // hyperbolic: 1 - 2 / (e^2x + 1)
        const Vector e = exponential(Simd::add(x, x));
        return Simd::sub(Simd::set1(1.0F), Simd::div(Simd::set1(2.0F), Simd::add(e, Simd::set1(1.0F))));
    }
    static Vector silu(Vector x) {
        const Vector e = exponential(Simd::sub(Simd::zero(), x));
        return Simd::div(x, Simd::add(Simd::set1(1.0F), e));
    }
    static Vector geluTanh(Vector x) {
        const Vector cube = Simd::mul(Simd::mul(x, x), x);
        const Vector inner = Simd::mul(Simd::set1(0.7978845608F), Simd::fma(cube, Simd::set1(0.044715F), x));
        return Simd::mul(Simd::mul(Simd::set1(0.5F), x), Simd::add(Simd::set1(1.0F), tangent(inner)));
    }

    /// function(part) over the row; `part` loads and stores eight values, or fewer at the end.
    template <class Function>
    static void forEach(std::size_t width, Function function) {
        for (std::size_t i = 0; i < width; i += kLanes) function(i, width - i < kLanes ? width - i : kLanes);
    }
    static Vector get(const float* at, std::size_t count) {
        return count == kLanes ? Simd::load(at) : Simd::loadPart(at, count);
    }
    static void put(float* at, Vector v, std::size_t count) {
        if (count == kLanes) {
            Simd::store(at, v);
        } else {
            Simd::storePart(at, v, count);
        }
    }

    // --- int8 activations ---------------------------------------------------------------------------------

    static void quantizeBlock(const float* values, std::int8_t* quants, float& scale, float* sums) {
        Vector most = Simd::zero(), poison = Simd::zero();
        for (std::size_t i = 0; i < kActivationBlock; i += kLanes) {
            const Vector x = Simd::load(values + i);
            most = Simd::max(most, Simd::abs(x));
            poison = Simd::fma(x, Simd::zero(), poison);  // NaN if any value is NaN or infinite
        }
        const float peak = Simd::maximum(most);
        const bool zero = !(peak > 1e-30F);
        const float inverse = zero ? 0.0F : 127.0F / peak;
        scale = (zero ? 0.0F : peak / 127.0F) + Simd::sum(poison);
        for (std::size_t half = 0; half < 2; ++half) {
            int sum = 0;
            for (std::size_t i = half * 16; i < half * 16 + 16; i += kLanes) {
                Vector q = Simd::roundToEven(Simd::mul(Simd::load(values + i), Simd::set1(inverse)));
                q = Simd::min(Simd::max(q, Simd::set1(-127.0F)), Simd::set1(127.0F));  // NaN becomes -127
                Simd::storeBytes(quants + i, q);
                for (std::size_t lane = 0; lane < kLanes; ++lane) sum += quants[i + lane];
            }
            sums[half] = static_cast<float>(sum);
        }
    }

    static void quantizeRow(const float* values, std::size_t columns, const QuantRow& out) {
        for (std::size_t b = 0; b < columns / kActivationBlock; ++b) {
            const std::size_t at = b * kActivationBlock;
            float sums[2];
            quantizeBlock(values + at, out.quants + at, out.scales[b], sums);
            out.sums16[2 * b] = out.scales[b] * sums[0];
            out.sums16[2 * b + 1] = out.scales[b] * sums[1];
            out.sums32[b] = out.scales[b] * (sums[0] + sums[1]);
        }
    }

    // --- f32 products -------------------------------------------------------------------------------------

    template <std::size_t kWeights, std::size_t kRows>
    static void floatTile(const float* const* weights, std::size_t padded, const float* const* rows, float* results) {
        Vector sums[kRows][kWeights];
        for (auto& row : sums) {
            for (Vector& sum : row) sum = Simd::zero();
        }
        for (std::size_t k = 0; k < padded; k += kLanes) {
            Vector w[kWeights];
            for (std::size_t n = 0; n < kWeights; ++n) w[n] = Simd::load(weights[n] + k);
            for (std::size_t m = 0; m < kRows; ++m) {
                const Vector x = Simd::load(rows[m] + k);
                for (std::size_t n = 0; n < kWeights; ++n) sums[m][n] = Simd::fma(x, w[n], sums[m][n]);
            }
        }
        for (std::size_t m = 0; m < kRows; ++m) {
            for (std::size_t n = 0; n < kWeights; ++n) results[m * kWeights + n] = Simd::sum(sums[m][n]);
        }
    }

    template <std::size_t kWeights, std::size_t kRows>
    static void writeTile(const float* const* weights, std::size_t padded, const float* const* rows, std::size_t n,
                          std::size_t m, const Output& out) {
        float results[kRows * kWeights];
        floatTile<kWeights, kRows>(weights + n, padded, rows + m, results);
        for (std::size_t i = 0; i < kRows; ++i) {
            for (std::size_t j = 0; j < kWeights; ++j) {
                const float bias = out.bias != nullptr ? out.bias[n + j] : 0.0F;
                out.values[(m + i) * out.stride + n + j] = results[i * kWeights + j] + bias;
            }
        }
    }

    template <std::size_t kRows>
    static void floatRows(const float* const* weights, std::size_t padded, const float* const* rows, std::size_t m,
                          const Output& out) {
        std::size_t n = 0;
        for (; n + 4 <= out.count; n += 4) writeTile<4, kRows>(weights, padded, rows, n, m, out);
        for (; n < out.count; ++n) writeTile<1, kRows>(weights, padded, rows, n, m, out);
    }

    static void floatProduct(const float* const* weights, std::size_t padded, const float* const* rows,
                             std::size_t rowCount, const Output& out) {
        std::size_t m = 0;
        for (; m + 3 <= rowCount; m += 3) floatRows<3>(weights, padded, rows, m, out);
        for (; m < rowCount; ++m) floatRows<1>(weights, padded, rows, m, out);
    }

    // --- rows ---------------------------------------------------------------------------------------------

    static void rmsNorm(const float* in, const float* weight, float epsilon, std::size_t width, float* out) {
        Vector squares = Simd::zero();
        forEach(width, [&](std::size_t i, std::size_t count) {
            const Vector x = get(in + i, count);
            squares = Simd::fma(x, x, squares);
        });
        const float mean = Simd::sum(squares) / static_cast<float>(width);
        const Vector factor = Simd::set1(1.0F / __builtin_sqrtf(mean + epsilon));
        forEach(width, [&](std::size_t i, std::size_t count) {
            put(out + i, Simd::mul(Simd::mul(get(in + i, count), factor), get(weight + i, count)), count);
        });
    }
    static void addRow(float* target, const float* in, std::size_t width) {
        forEach(width, [&](std::size_t i, std::size_t count) {
            put(target + i, Simd::add(get(target + i, count), get(in + i, count)), count);
        });
    }
    static void siluGate(const float* gate, const float* up, float* out, std::size_t width) {
        forEach(width, [&](std::size_t i, std::size_t count) {
            put(out + i, Simd::mul(silu(get(gate + i, count)), get(up + i, count)), count);
        });
    }
    static void geluGate(const float* gate, const float* up, float* out, std::size_t width) {
        forEach(width, [&](std::size_t i, std::size_t count) {
            put(out + i, Simd::mul(geluTanh(get(gate + i, count)), get(up + i, count)), count);
        });
    }
    static void softcap(float* values, float cap, std::size_t width) {
        forEach(width, [&](std::size_t i, std::size_t count) {
            const Vector scaled = Simd::div(get(values + i, count), Simd::set1(cap));
            put(values + i, Simd::mul(Simd::set1(cap), tangent(scaled)), count);
        });
    }
    static void scaleRow(float* values, float factor, std::size_t width) {
        forEach(width, [&](std::size_t i, std::size_t count) {
            put(values + i, Simd::mul(get(values + i, count), Simd::set1(factor)), count);
        });
    }
    static void floatsToHalves(const float* in, std::uint16_t* out, std::size_t count) {
        std::size_t i = 0;
        for (; i + kLanes <= count; i += kLanes) Simd::storeHalves(out + i, Simd::load(in + i));
        for (; i < count; ++i) out[i] = floatToHalf(in[i]);
    }
    static void halvesToFloats(const std::uint16_t* in, float* out, std::size_t count) {
        std::size_t i = 0;
        for (; i + kLanes <= count; i += kLanes) Simd::store(out + i, Simd::loadHalves(in + i));
        for (; i < count; ++i) out[i] = halfToFloat(in[i]);
    }

    // --- attention ----------------------------------------------------------------------------------------

    template <std::size_t kTokens>
    static void scoreTile(const float* query, const float* keys, std::size_t keyStride, std::size_t dim, float scale,
                          float* out) {
        Vector sums[kTokens];
        for (Vector& sum : sums) sum = Simd::zero();
        forEach(dim, [&](std::size_t d, std::size_t count) {
            const Vector q = get(query + d, count);
            for (std::size_t t = 0; t < kTokens; ++t) {
                sums[t] = Simd::fma(q, get(keys + t * keyStride + d, count), sums[t]);
            }
        });
        for (std::size_t t = 0; t < kTokens; ++t) out[t] = scale * Simd::sum(sums[t]);
    }

    static void scores(const float* query, const float* keys, std::size_t keyStride, std::size_t dim, std::size_t first,
                       std::size_t last, float scale, float* out) {
        std::size_t t = first;
        for (; t + 4 <= last; t += 4) scoreTile<4>(query, keys + t * keyStride, keyStride, dim, scale, out + t);
        for (; t < last; ++t) scoreTile<1>(query, keys + t * keyStride, keyStride, dim, scale, out + t);
    }

    /// weights[t] = e^(scores[t] - maximum) in place; returns their sum.
    static float exponentials(float* scores, std::size_t first, std::size_t last, float maximum) {
        Vector sum = Simd::zero();
        for (std::size_t t = first; t < last; t += kLanes) {
            const std::size_t count = last - t < kLanes ? last - t : kLanes;
            put(scores + t, exponential(Simd::sub(get(scores + t, count), Simd::set1(maximum))), count);
            sum = Simd::add(sum, get(scores + t, count));
        }
        return Simd::sum(sum);
    }

    template <std::size_t kVectors>
    static void weightedValues(const float* weights, const float* values, std::size_t stride, std::size_t first,
                               std::size_t last, float* out) {
        Vector sums[kVectors];
        for (Vector& sum : sums) sum = Simd::zero();
        for (std::size_t t = first; t < last; ++t) {
            const Vector weight = Simd::set1(weights[t]);
            for (std::size_t v = 0; v < kVectors; ++v) {
                sums[v] = Simd::fma(weight, Simd::load(values + t * stride + v * kLanes), sums[v]);
            }
        }
        for (std::size_t v = 0; v < kVectors; ++v) Simd::store(out + v * kLanes, sums[v]);
    }

    static void accumulate(float* scores, const float* values, std::size_t valueStride, std::size_t dim,
                           std::size_t first, std::size_t last, SoftmaxState& state, float* out, float* chunkOut) {
        float most = scores[first];
        for (std::size_t t = first; t < last; ++t) most = scores[t] > most ? scores[t] : most;
        const float chunkSum = exponentials(scores, first, last, most);
        const std::size_t padded = (dim + kLanes - 1) / kLanes * kLanes;
        std::size_t d = 0;
        for (; d + 4 * kLanes <= padded; d += 4 * kLanes) {
            weightedValues<4>(scores, values + d, valueStride, first, last, chunkOut + d);
        }
        for (; d < padded; d += kLanes) weightedValues<1>(scores, values + d, valueStride, first, last, chunkOut + d);
        const float maximum = state.maximum > most ? state.maximum : most;
        float factors[kLanes] = {state.maximum - maximum, most - maximum};
        Simd::store(factors, exponential(Simd::load(factors)));
        const Vector before = Simd::set1(factors[0]), now = Simd::set1(factors[1]);
        forEach(dim, [&](std::size_t i, std::size_t count) {
            const Vector added = Simd::mul(Simd::load(chunkOut + i), now);
            put(out + i, Simd::fma(get(out + i, count), before, added), count);
        });
        state.sum = state.sum * factors[0] + chunkSum * factors[1];
        state.maximum = maximum;
    }

    static void decodeRow(WeightFormat format, const std::byte* source, float* values, std::size_t elements) {
        if (format == WeightFormat::F16) {
            std::size_t i = 0;
            for (; i + kLanes <= elements; i += kLanes) {
                Simd::store(values + i, Simd::loadHalves(reinterpret_cast<const std::uint16_t*>(source + 2 * i)));
            }
            if (i < elements) firsttoken::engine::decodeRow(format, source + 2 * i, values + i, elements - i);
        } else {
            firsttoken::engine::decodeRow(format, source, values, elements);
        }
    }

    static constexpr Kernels table(const char* name, decltype(Kernels::unpackPanel) unpack,
                                   decltype(Kernels::panelProduct) product) {
        return {name,     quantizeRow, unpack,  product,        decodeRow,      floatProduct, rmsNorm,    addRow,
                siluGate, geluGate,    softcap, floatsToHalves, halvesToFloats, scores,       accumulate, scaleRow};
    }
};

}  // namespace firsttoken::engine
