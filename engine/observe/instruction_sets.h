#pragma once

#include <string>
#include <vector>

namespace firsttoken::engine {

/// Instruction sets of this processor that the operating system lets programs use.
struct InstructionSets {
    bool avx = false;
    bool avx2 = false;
    bool fma = false;
    bool f16c = false;
    bool avxVnni = false;
    bool avx512f = false;
    bool avx512bw = false;
    bool avx512vl = false;
    bool avx512Vnni = false;
    bool avx512Bf16 = false;
    bool avx512Fp16 = false;
    bool amxInt8 = false;
    bool amxBf16 = false;
};
InstructionSets instructionSets();

/// Names of those present, as people write them: avx2, avx512-vnni, amx-int8 …
std::vector<std::string> namesOf(const InstructionSets& sets);

}  // namespace firsttoken::engine
