#include "engine/observe/limit_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace firsttoken::engine {

namespace {

std::uint64_t readPlain(const std::uint64_t* words, std::size_t count) {
    std::uint64_t sums[8] = {};
    for (std::size_t i = 0; i + 8 <= count; i += 8) {
        for (std::size_t j = 0; j < 8; ++j) sums[j] ^= words[i + j];
    }
    return sums[0] ^ sums[1] ^ sums[2] ^ sums[3] ^ sums[4] ^ sums[5] ^ sums[6] ^ sums[7];
}

#if defined(__x86_64__)

/// Keeps a value in a register and hides from the compiler what it is.
#define FIRSTTOKEN_OPAQUE(value) __asm__ volatile("" : "+v"(value))

constexpr int rounds = 4096;
constexpr int accumulators = 12;  // enough chains to cover the latency of the products

__attribute__((target("avx2"))) std::uint64_t readAvx2(const std::uint64_t* words, std::size_t count) {
    __m256i sums[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    const auto* vectors = reinterpret_cast<const __m256i*>(words);
    for (std::size_t i = 0; i + 4 <= count / 4; i += 4) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < 4; ++j) sums[j] = _mm256_xor_si256(sums[j], _mm256_loadu_si256(vectors + i + j));
    }
    const __m256i all = _mm256_xor_si256(_mm256_xor_si256(sums[0], sums[1]), _mm256_xor_si256(sums[2], sums[3]));
    std::uint64_t parts[4];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), all);
    return parts[0] ^ parts[1] ^ parts[2] ^ parts[3];
}

/// Multiply-adds done: rounds * accumulators * 32.
__attribute__((target("avx2"))) double int8Avx2() {
    __m256i sums[accumulators];
#pragma GCC unroll 12
    for (auto& sum : sums) sum = _mm256_setzero_si256();
    __m256i a = _mm256_set1_epi8(3);
    __m256i b = _mm256_set1_epi8(-5);
    const __m256i ones = _mm256_set1_epi16(1);
    for (int i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
        for (auto& sum : sums) {
            FIRSTTOKEN_OPAQUE(a);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), ones));
            FIRSTTOKEN_OPAQUE(sum);
        }
    }
    return 32.0 * rounds * accumulators;
}

__attribute__((target("avx2,avxvnni"))) double int8AvxVnni() {
    __m256i sums[accumulators];
#pragma GCC unroll 12
    for (auto& sum : sums) sum = _mm256_setzero_si256();
    const __m256i a = _mm256_set1_epi8(3);
    const __m256i b = _mm256_set1_epi8(-5);
    for (int i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
        for (auto& sum : sums) {
            sum = _mm256_dpbusd_avx_epi32(sum, a, b);
            FIRSTTOKEN_OPAQUE(sum);
        }
    }
    return 32.0 * rounds * accumulators;
}

__attribute__((target("avx512f,avx512vnni"))) double int8Avx512Vnni() {
    __m512i sums[accumulators];
#pragma GCC unroll 12
    for (auto& sum : sums) sum = _mm512_setzero_si512();
    const __m512i a = _mm512_set1_epi8(3);
    const __m512i b = _mm512_set1_epi8(-5);
    for (int i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
        for (auto& sum : sums) {
            sum = _mm512_dpbusd_epi32(sum, a, b);
            FIRSTTOKEN_OPAQUE(sum);
        }
    }
    return 64.0 * rounds * accumulators;
}

__attribute__((target("avx512f,avx512bf16"))) double bf16Avx512() {
    __m512 sums[accumulators];
#pragma GCC unroll 12
    for (auto& sum : sums) sum = _mm512_setzero_ps();
    const __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5F), _mm512_set1_ps(0.25F));
    for (int i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
        for (auto& sum : sums) {
            sum = _mm512_dpbf16_ps(sum, a, a);
            FIRSTTOKEN_OPAQUE(sum);
        }
    }
    return 32.0 * rounds * accumulators;
}

#endif

}  // namespace

LimitKernels limitKernels(const InstructionSets& sets) {
    LimitKernels kernels;
    kernels.read = readPlain;
#if defined(__x86_64__)
    if (sets.avx2) {
        kernels.read = readAvx2;
        kernels.int8 = int8Avx2;
    }
    if (sets.avx2 && sets.avxVnni) kernels.int8 = int8AvxVnni;
    if (sets.avx512Vnni) kernels.int8 = int8Avx512Vnni;
    if (sets.avx512Bf16) kernels.bf16 = bf16Avx512;
#else
    static_cast<void>(sets);
#endif
    return kernels;
}

}  // namespace firsttoken::engine
