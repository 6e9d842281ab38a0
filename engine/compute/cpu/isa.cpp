#include "engine/compute/cpu/isa.h"

namespace firsttoken::engine {

std::string_view toString(Isa isa) {
    switch (isa) {
        case Isa::Plain:
            return "plain";
        case Isa::Avx2:
            return "avx2";
    }
    return "plain";
}

std::vector<Isa> availableIsas() {
    std::vector<Isa> isas = {Isa::Plain};
#ifdef FIRSTTOKEN_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
        isas.push_back(Isa::Avx2);
    }
#endif
    return isas;
}

Result<Isa> chooseIsa(std::string_view forced) {
    const std::vector<Isa> isas = availableIsas();
    if (forced.empty()) return isas.back();
    std::string names;
    for (const Isa isa : isas) {
        if (toString(isa) == forced) return isa;
        names += (names.empty() ? "" : ", ") + std::string(toString(isa));
    }
    return Error{ErrorCode::BadInput,
                 "instruction set '" + std::string(forced) + "' is not available here; there are: " + names};
}

}  // namespace firsttoken::engine
