#include <immintrin.h>

#include "engine/compute/cpu/block_fields.h"
#include "engine/compute/cpu/kernels.h"

// Compiled for AVX2, FMA and F16C. Everything here has internal linkage but the two entry points.

namespace firsttoken::engine {

namespace {

inline __m256i load(const void* at) { return _mm256_loadu_si256(static_cast<const __m256i*>(at)); }
inline void store(void* at, __m256i value) { _mm256_storeu_si256(static_cast<__m256i*>(at), value); }

/// Eight rows' 16 bytes at `offset`: out[j] lane r = dword j of row r, j < 4.
inline void transpose4(const std::byte* const* rows, std::size_t offset, __m256i* out) {
    __m256i pair[4];
    for (int i = 0; i < 4; ++i) {
        const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i] + offset));
        const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i + 4] + offset));
        pair[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    }
    const __m256i a = _mm256_unpacklo_epi32(pair[0], pair[1]), b = _mm256_unpackhi_epi32(pair[0], pair[1]);
    const __m256i c = _mm256_unpacklo_epi32(pair[2], pair[3]), d = _mm256_unpackhi_epi32(pair[2], pair[3]);
    out[0] = _mm256_unpacklo_epi64(a, c);
    out[1] = _mm256_unpackhi_epi64(a, c);
    out[2] = _mm256_unpacklo_epi64(b, d);
    out[3] = _mm256_unpackhi_epi64(b, d);
}

/// Eight rows' 32 bytes at `offset`: out[j] lane r = dword j of row r, j < 8.
inline void transpose8(const std::byte* const* rows, std::size_t offset, __m256i* out) {
    transpose4(rows, offset, out);
    transpose4(rows, offset + 16, out + 4);
}

inline __m256 gatherHalves(const std::byte* const* rows, std::size_t offset) {
    alignas(16) std::uint16_t halves[8];
    for (int r = 0; r < 8; ++r) halves[r] = loadHalf(rows[r] + offset);
    return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(halves)));
}

inline __m256i lowNibbles(__m256i v) { return _mm256_and_si256(v, _mm256_set1_epi8(15)); }
inline __m256i highNibbles(__m256i v) { return lowNibbles(_mm256_srli_epi16(v, 4)); }

void unpackQ4_0(const std::byte* const* rows, std::size_t columns, const Panel& panel) {
    for (std::size_t b = 0; b < columns / 32; ++b) {
        const std::size_t at = b * q4_0::kBytes;
        const __m256 scale = gatherHalves(rows, at + q4_0::kScale);
        _mm256_storeu_ps(panel.scales + b * 8, scale);
        _mm256_storeu_ps(panel.offsets + b * 8, _mm256_mul_ps(scale, _mm256_set1_ps(-8.0F)));
        __m256i words[4];
        transpose4(rows, at + q4_0::kQuants, words);
        std::uint8_t* quants = panel.quants + b * 256;
        for (int j = 0; j < 4; ++j) {
            store(quants + 32 * j, lowNibbles(words[j]));
            store(quants + 32 * (j + 4), highNibbles(words[j]));
        }
    }
}

/// Bits 4j … 4j+3 of each lane's word, as 0x10 in the lane's four bytes.
inline __m256i fifthBits(__m256i high, int j) {
    const char byte = static_cast<char>(j / 2);
    const __m256i spread = _mm256_add_epi8(_mm256_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 0, 0, 0,
                                                            0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12),
                                           _mm256_set1_epi8(byte));
    const __m256i mask = _mm256_set1_epi32(j % 2 == 0 ? 0x08040201 : static_cast<int>(0x80402010));
    const __m256i bits = _mm256_and_si256(_mm256_shuffle_epi8(high, spread), mask);
    return _mm256_and_si256(_mm256_cmpeq_epi8(bits, mask), _mm256_set1_epi8(16));
}

void unpackQ5_0(const std::byte* const* rows, std::size_t columns, const Panel& panel) {
    for (std::size_t b = 0; b < columns / 32; ++b) {
        const std::size_t at = b * q5_0::kBytes;
        const __m256 scale = gatherHalves(rows, at + q5_0::kScale);
        _mm256_storeu_ps(panel.scales + b * 8, scale);
        _mm256_storeu_ps(panel.offsets + b * 8, _mm256_mul_ps(scale, _mm256_set1_ps(-16.0F)));
        alignas(32) std::uint32_t highWords[8];
        for (int r = 0; r < 8; ++r) highWords[r] = loadWord(rows[r] + at + q5_0::kHigh);
        const __m256i high = load(highWords);
        __m256i words[4];
        transpose4(rows, at + q5_0::kQuants, words);
        std::uint8_t* quants = panel.quants + b * 256;
        for (int j = 0; j < 4; ++j) {
            store(quants + 32 * j, _mm256_or_si256(lowNibbles(words[j]), fifthBits(high, j)));
            store(quants + 32 * (j + 4), _mm256_or_si256(highNibbles(words[j]), fifthBits(high, j + 4)));
        }
    }
}

void unpackQ8_0(const std::byte* const* rows, std::size_t columns, const Panel& panel) {
    for (std::size_t b = 0; b < columns / 32; ++b) {
        const std::size_t at = b * q8_0::kBytes;
        _mm256_storeu_ps(panel.scales + b * 8, gatherHalves(rows, at + q8_0::kScale));
        __m256i words[8];
        transpose8(rows, at + q8_0::kQuants, words);
        for (int j = 0; j < 8; ++j) store(panel.quants + b * 256 + 32 * j, words[j]);
    }
}

void unpackSubScales45K(const std::byte* const* rows, std::size_t at, std::size_t firstGroup, const Panel& panel) {
    const __m256 scale = gatherHalves(rows, at + q4_k::kScale);
    const __m256 minimum = gatherHalves(rows, at + q4_k::kMin);
    alignas(32) std::int32_t scales[8][8];
    alignas(32) std::int32_t minima[8][8];
    for (int r = 0; r < 8; ++r) {
        for (unsigned b = 0; b < 8; ++b) {
            const SubScale sub = subScale(rows[r] + at + q4_k::kSubScales, b);
            scales[b][r] = static_cast<std::int32_t>(sub.scale);
            minima[b][r] = static_cast<std::int32_t>(sub.minimum);
        }
    }
    const __m256 sign = _mm256_set1_ps(-0.0F);
    for (std::size_t b = 0; b < 8; ++b) {
        float* scaleOut = panel.scales + (firstGroup + b) * 8;
        float* offsetOut = panel.offsets + (firstGroup + b) * 8;
        _mm256_storeu_ps(scaleOut, _mm256_mul_ps(scale, _mm256_cvtepi32_ps(load(scales[b]))));
        const __m256 product = _mm256_mul_ps(minimum, _mm256_cvtepi32_ps(load(minima[b])));
        _mm256_storeu_ps(offsetOut, _mm256_xor_ps(product, sign));
    }
}

void unpackQ4_K(const std::byte* const* rows, std::size_t columns, const Panel& panel) {
    for (std::size_t block = 0; block < columns / 256; ++block) {
        const std::size_t at = block * q4_k::kBytes;
        unpackSubScales45K(rows, at, block * 8, panel);
        for (std::size_t g = 0; g < 4; ++g) {
            __m256i words[8];
            transpose8(rows, at + q4_k::kQuants + 32 * g, words);
            std::uint8_t* quants = panel.quants + block * 2048 + g * 512;
            for (int j = 0; j < 8; ++j) {
                store(quants + 32 * j, lowNibbles(words[j]));
                store(quants + 256 + 32 * j, highNibbles(words[j]));
            }
        }
    }
}

/// Bit `bit` of every byte, moved to 0x10.
inline __m256i fifthBit(__m256i high, int bit) {
    const __m256i shifted = _mm256_srl_epi16(high, _mm_cvtsi32_si128(bit));
    return _mm256_slli_epi16(_mm256_and_si256(shifted, _mm256_set1_epi8(1)), 4);
}

void unpackQ5_K(const std::byte* const* rows, std::size_t columns, const Panel& panel) {
    for (std::size_t block = 0; block < columns / 256; ++block) {
        const std::size_t at = block * q5_k::kBytes;
        unpackSubScales45K(rows, at, block * 8, panel);
        __m256i high[8];
        transpose8(rows, at + q5_k::kHigh, high);
        for (int g = 0; g < 4; ++g) {
            __m256i words[8];
            transpose8(rows, at + q5_k::kQuants + 32 * static_cast<std::size_t>(g), words);
            std::uint8_t* quants = panel.quants + block * 2048 + static_cast<std::size_t>(g) * 512;
            for (int j = 0; j < 8; ++j) {
                store(quants + 32 * j, _mm256_or_si256(lowNibbles(words[j]), fifthBit(high[j], 2 * g)));
                store(quants + 256 + 32 * j, _mm256_or_si256(highNibbles(words[j]), fifthBit(high[j], 2 * g + 1)));
            }
        }
    }
}

void unpackSubScales6K(const std::byte* const* rows, std::size_t at, std::size_t firstGroup, const Panel& panel) {
    const __m256 scale = gatherHalves(rows, at + q6_k::kScale);
    const __m256 minus32 = _mm256_set1_ps(-32.0F);
    for (std::size_t g = 0; g < 16; ++g) {
        alignas(32) std::int32_t subs[8];
        for (int r = 0; r < 8; ++r) {
            subs[r] = static_cast<std::int8_t>(loadByte(rows[r] + at + q6_k::kSubScales + g));
        }
        const __m256 product = _mm256_mul_ps(scale, _mm256_cvtepi32_ps(load(subs)));
        _mm256_storeu_ps(panel.scales + (firstGroup + g) * 8, product);
        _mm256_storeu_ps(panel.offsets + (firstGroup + g) * 8, _mm256_mul_ps(product, minus32));
    }
}

/// Bits 2k, 2k+1 of every byte, moved to 0x30.
inline __m256i sixthBits(__m256i high, int k) {
    const __m256i shifted = _mm256_srl_epi16(high, _mm_cvtsi32_si128(2 * k));
    return _mm256_slli_epi16(_mm256_and_si256(shifted, _mm256_set1_epi8(3)), 4);
}

void unpackQ6_K(const std::byte* const* rows, std::size_t columns, const Panel& panel) {
    for (std::size_t block = 0; block < columns / 256; ++block) {
        const std::size_t at = block * q6_k::kBytes;
        unpackSubScales6K(rows, at, block * 16, panel);
        for (std::size_t half = 0; half < 2; ++half) {
            __m256i low[2][8], high[8];
            transpose8(rows, at + q6_k::kLow + 64 * half, low[0]);
            transpose8(rows, at + q6_k::kLow + 64 * half + 32, low[1]);
            transpose8(rows, at + q6_k::kHigh + 32 * half, high);
            std::uint8_t* quants = panel.quants + block * 2048 + half * 1024;
            for (int k = 0; k < 4; ++k) {
                for (int j = 0; j < 8; ++j) {
                    const __m256i nibbles = k >= 2 ? highNibbles(low[k & 1][j]) : lowNibbles(low[k & 1][j]);
                    store(quants + 256 * k + 32 * j, _mm256_or_si256(nibbles, sixthBits(high[j], k)));
                }
            }
        }
    }
}

inline __m256i broadcastQuad(const std::int8_t* quants) {
    std::int32_t quad;
    std::memcpy(&quad, quants, 4);
    return _mm256_set1_epi32(quad);
}

/// Sum over `kColumns` columns of weight x activation, eight rows, for one activation row. kFold: how many u8 x s8
/// pair sums fit in 16 bits (2 * maxQuant * 127 * kFold <= 32767); 0: signed weights, where one pair sum fills them.
template <int kFold, int kColumns>
inline __m256i groupProduct(const __m256i* weights, const std::int8_t* quants) {
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i total = _mm256_setzero_si256();
    if constexpr (kFold == 0) {
        for (int j = 0; j < kColumns / 4; ++j) {
            const __m256i activation = _mm256_sign_epi8(broadcastQuad(quants + 4 * j), weights[j]);
            const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(weights[j]), activation);
            total = _mm256_add_epi32(total, _mm256_madd_epi16(pairs, ones));
        }
    } else {
        constexpr int kStep = kFold < kColumns / 4 ? kFold : kColumns / 4;
        for (int j = 0; j < kColumns / 4; j += kStep) {
            __m256i pairs = _mm256_maddubs_epi16(weights[j], broadcastQuad(quants + 4 * j));
            for (int i = 1; i < kStep; ++i) {
                pairs =
                    _mm256_add_epi16(pairs, _mm256_maddubs_epi16(weights[j + i], broadcastQuad(quants + 4 * (j + i))));
            }
            total = _mm256_add_epi32(total, _mm256_madd_epi16(pairs, ones));
        }
    }
    return total;
}

/// kRows activation rows against one panel, all columns; the accumulators stay in registers.
template <int kFold, int kGroup, bool kOffset, int kRows>
void productTile(const Panel& panel, std::size_t columns, const QuantRow* rows, __m256* results) {
    __m256 accumulators[kRows];
    for (int m = 0; m < kRows; ++m) accumulators[m] = _mm256_setzero_ps();
    for (std::size_t g = 0; g < columns / kGroup; ++g) {
        __m256i weights[kGroup / 4];
        const std::uint8_t* quants = panel.quants + g * kGroup * 8;
        for (int j = 0; j < kGroup / 4; ++j) weights[j] = load(quants + 32 * j);
        const __m256 scale = _mm256_loadu_ps(panel.scales + g * 8);
        for (int m = 0; m < kRows; ++m) {
            const __m256i product = groupProduct<kFold, kGroup>(weights, rows[m].quants + g * kGroup);
            const __m256 rowScale = _mm256_broadcast_ss(rows[m].scales + g * kGroup / kActivationBlock);
            const __m256 scaled = _mm256_mul_ps(rowScale, _mm256_cvtepi32_ps(product));
            accumulators[m] = _mm256_fmadd_ps(scale, scaled, accumulators[m]);
            if constexpr (kOffset) {
                const float* sums = kGroup == 16 ? rows[m].sums16 : rows[m].sums32;
                const __m256 offset = _mm256_loadu_ps(panel.offsets + g * 8);
                accumulators[m] = _mm256_fmadd_ps(offset, _mm256_broadcast_ss(sums + g), accumulators[m]);
            }
        }
    }
    for (int m = 0; m < kRows; ++m) results[m] = accumulators[m];
}

inline __m256i laneMask(std::size_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

void writeRows(const __m256* results, std::size_t first, std::size_t rowCount, const Output& out) {
    const __m256i mask = laneMask(out.count);
    const __m256 bias = out.bias != nullptr ? _mm256_maskload_ps(out.bias, mask) : _mm256_setzero_ps();
    for (std::size_t m = 0; m < rowCount; ++m) {
        float* target = out.values + (first + m) * out.stride;
        _mm256_maskstore_ps(target, mask, _mm256_add_ps(results[m], bias));
    }
}

template <int kFold, int kGroup, bool kOffset>
void product(const Panel& panel, std::size_t columns, const QuantRow* rows, std::size_t rowCount, const Output& out) {
    __m256 results[4];
    std::size_t m = 0;
    for (; m + 4 <= rowCount; m += 4) {
        productTile<kFold, kGroup, kOffset, 4>(panel, columns, rows + m, results);
        writeRows(results, m, 4, out);
    }
    if (rowCount - m >= 2) {
        productTile<kFold, kGroup, kOffset, 2>(panel, columns, rows + m, results);
        writeRows(results, m, 2, out);
        m += 2;
    }
    if (m < rowCount) {
        productTile<kFold, kGroup, kOffset, 1>(panel, columns, rows + m, results);
        writeRows(results, m, 1, out);
    }
}

}  // namespace

void unpackPanelAvx2(WeightFormat format, const std::byte* const* rows, std::size_t columns, const Panel& panel) {
    switch (format) {
        case WeightFormat::Q4_0:
            unpackQ4_0(rows, columns, panel);
            break;
        case WeightFormat::Q5_0:
            unpackQ5_0(rows, columns, panel);
            break;
        case WeightFormat::Q8_0:
            unpackQ8_0(rows, columns, panel);
            break;
        case WeightFormat::Q4_K:
            unpackQ4_K(rows, columns, panel);
            break;
        case WeightFormat::Q5_K:
            unpackQ5_K(rows, columns, panel);
            break;
        case WeightFormat::Q6_K:
            unpackQ6_K(rows, columns, panel);
            break;
        case WeightFormat::F32:
        case WeightFormat::F16:
        case WeightFormat::BF16:
            break;
    }
}

void panelProductAvx2(PanelKind kind, const Panel& panel, std::size_t columns, const QuantRow* rows,
                      std::size_t rowCount, const Output& out) {
    if (kind.maxQuant == 0) {
        product<0, 32, false>(panel, columns, rows, rowCount, out);
    } else if (kind.groupElements == 16) {
        product<2, 16, true>(panel, columns, rows, rowCount, out);
    } else if (kind.maxQuant == 15) {
        product<8, 32, true>(panel, columns, rows, rowCount, out);
    } else {
        product<4, 32, true>(panel, columns, rows, rowCount, out);
    }
}

}  // namespace firsttoken::engine
