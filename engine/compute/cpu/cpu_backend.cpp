#include "engine/compute/cpu/cpu_backend.h"

#include "engine/compute/cpu/cpu_executor.h"
#include "engine/compute/cpu/isa.h"

namespace firsttoken::engine {

namespace {

class CpuBackend final : public Backend {
public:
    explicit CpuBackend(const Kernels& kernels) : m_kernels(kernels) {}
    Result<std::unique_ptr<Executor>> compile(const Plan& plan, const BackendOptions& options) override {
        return CpuExecutor::create(plan, options, m_kernels);
    }

private:
    const Kernels& m_kernels;
};

const Kernels& kernelsFor(Isa isa) {
#ifdef FIRSTTOKEN_AVX2
    if (isa == Isa::Avx2) return avx2Kernels();
#endif
    static_cast<void>(isa);
    return plainKernels();
}

}  // namespace

Result<std::unique_ptr<Backend>> makeCpuBackend(std::string_view forcedIsa) {
    const auto isa = chooseIsa(forcedIsa);
    if (!isa) return isa.error();
    return std::unique_ptr<Backend>(std::make_unique<CpuBackend>(kernelsFor(*isa)));
}

}  // namespace firsttoken::engine
