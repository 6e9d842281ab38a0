#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/kernels_generic.h"
#include "engine/compute/cpu/simd_plain.h"

namespace firsttoken::engine {

const Kernels& plainKernels() {
    static constexpr Kernels kernels = GenericKernels<PlainSimd>::table("plain", unpackPanelPlain, panelProductPlain);
    return kernels;
}

}  // namespace firsttoken::engine
