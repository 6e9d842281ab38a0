#include "engine/observe/instruction_sets.h"

#include <cstdint>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace firsttoken::engine {

#if defined(__x86_64__)

namespace {

bool bit(std::uint32_t word, unsigned place) { return ((word >> place) & 1U) != 0; }

/// Extended control register 0: which register states the operating system saves.
std::uint32_t savedStates() {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

}  // namespace

InstructionSets instructionSets() {
    // Bits: Intel's Software Developer's Manual, volume 2A, CPUID leaves 1, 7.0 and 7.1.
    InstructionSets sets;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
    std::uint32_t d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !bit(c, 27)) return sets;  // no OSXSAVE
    const std::uint32_t saved = savedStates();
    const bool ymm = (saved & 0x6U) == 0x6U;
    const bool zmm = ymm && (saved & 0xE0U) == 0xE0U;
    const bool tiles = (saved & 0x60000U) == 0x60000U;
    sets.avx = ymm && bit(c, 28);
    sets.fma = ymm && bit(c, 12);
    sets.f16c = ymm && bit(c, 29);
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return sets;
    const std::uint32_t subleaves = a;
    sets.avx2 = ymm && bit(b, 5);
    sets.avx512f = zmm && bit(b, 16);
    sets.avx512bw = sets.avx512f && bit(b, 30);
    sets.avx512vl = sets.avx512f && bit(b, 31);
    sets.avx512Vnni = sets.avx512f && bit(c, 11);
    sets.avx512Fp16 = sets.avx512f && bit(d, 23);
    sets.amxBf16 = tiles && bit(d, 22) && bit(d, 24);
    sets.amxInt8 = tiles && bit(d, 25) && bit(d, 24);
    if (subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) {
        sets.avxVnni = ymm && bit(a, 4);
        sets.avx512Bf16 = sets.avx512f && bit(a, 5);
    }
    return sets;
}

#else

InstructionSets instructionSets() { return {}; }

#endif

std::vector<std::string> namesOf(const InstructionSets& sets) {
    const std::pair<bool, const char*> all[] = {
        {sets.avx, "avx"},
        {sets.avx2, "avx2"},
        {sets.fma, "fma"},
        {sets.f16c, "f16c"},
        {sets.avxVnni, "avx-vnni"},
        {sets.avx512f, "avx512f"},
        {sets.avx512bw, "avx512bw"},
        {sets.avx512vl, "avx512vl"},
        {sets.avx512Vnni, "avx512-vnni"},
        {sets.avx512Bf16, "avx512-bf16"},
        {sets.avx512Fp16, "avx512-fp16"},
        {sets.amxInt8, "amx-int8"},
        {sets.amxBf16, "amx-bf16"},
    };
    std::vector<std::string> names;
    for (const auto& [present, name] : all) {
        if (present) names.emplace_back(name);
    }
    return names;
}

}  // namespace firsttoken::engine
