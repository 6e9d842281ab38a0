#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace firsttoken::engine {

/// Eight f32 lanes in one AVX2 register. Included by kernels_avx2.cpp only.
struct Avx2Simd {
    using Vector = __m256;

    static Vector zero() { return _mm256_setzero_ps(); }
    static Vector set1(float value) { return _mm256_set1_ps(value); }
    static Vector load(const float* at) { return _mm256_loadu_ps(at); }
    static void store(float* at, Vector v) { _mm256_storeu_ps(at, v); }
    static Vector loadPart(const float* at, std::size_t count) { return _mm256_maskload_ps(at, mask(count)); }
    static void storePart(float* at, Vector v, std::size_t count) { _mm256_maskstore_ps(at, mask(count), v); }
    static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
    static Vector sub(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
    static Vector mul(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
    static Vector div(Vector a, Vector b) { return _mm256_div_ps(a, b); }
    static Vector max(Vector a, Vector b) { return _mm256_max_ps(a, b); }
    static Vector min(Vector a, Vector b) { return _mm256_min_ps(a, b); }
    static Vector abs(Vector a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), a); }
    static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
    static Vector roundToEven(Vector a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
    static Vector powerOfTwo(Vector n) {
        const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
        return _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
    }
    static float sum(Vector v) {
        const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
    }
    static float maximum(Vector v) {
        const __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
        const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
    }
    static Vector loadHalves(const std::uint16_t* at) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    }
    static void storeHalves(std::uint16_t* at, Vector v) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
    }
    static void storeBytes(std::int8_t* at, Vector v) {
        const __m256i words = _mm256_cvtps_epi32(v);
        const __m128i halves = _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(at), _mm_packs_epi16(halves, halves));
    }

private:
    static __m256i mask(std::size_t count) {
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                                  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
};

}  // namespace firsttoken::engine
