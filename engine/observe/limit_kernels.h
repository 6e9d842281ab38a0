#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/observe/instruction_sets.h"

/// The pieces of work that measureLimits() repeats: as fast as the instruction set allows, results kept in registers.
namespace firsttoken::engine {

struct LimitKernels {
    /// Reads all words once; returns their exclusive or.
    std::uint64_t (*read)(const std::uint64_t* words, std::size_t count) = nullptr;
    /// Each call returns the multiply-adds that it did. Null where the processor has no such products.
    double (*int8)() = nullptr;
    double (*bf16)() = nullptr;
};
LimitKernels limitKernels(const InstructionSets& sets);

}  // namespace firsttoken::engine
