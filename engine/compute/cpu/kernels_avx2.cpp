#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/kernels_generic.h"
#include "engine/compute/cpu/simd_avx2.h"

namespace firsttoken::engine {

const Kernels& avx2Kernels() {
    static constexpr Kernels kernels = GenericKernels<Avx2Simd>::table("avx2", unpackPanelAvx2, panelProductAvx2);
    return kernels;
}

}  // namespace firsttoken::engine
