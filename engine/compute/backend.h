#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/model/plan.h"
#include "engine/result.h"

/// The backend port. A backend compiles a plan once, then runs steps of it. KV storage and its layout belong to
/// the backend; block ids and their life to cache/.
namespace firsttoken::engine {

using BlockId = std::uint32_t;
using TokenId = std::int32_t;

enum class KvPrecision { F16, F32 };
/// How matrix products are computed.
enum class Arithmetic {
    AsStored,  ///< block formats with int8 activations, F32, F16 and BF16 weights with f32 activations
    F32,       ///< every weight decoded to f32, activations f32
};

struct BackendOptions {
    Arithmetic arithmetic = Arithmetic::AsStored;
    KvPrecision kvPrecision = KvPrecision::F16;
    std::uint32_t blockTokens = 16;          ///< token positions a KV block
    std::vector<std::uint32_t> groupBlocks;  ///< blocks of each layer group's pool
    std::uint32_t maxRows = 2048;            ///< rows of the largest step
    std::uint32_t threads = 0;               ///< 0: one a core
};

/// One row of a step: one token of one sequence at one position.
struct StepRow {
    TokenId token;
    std::uint32_t position;
    std::uint32_t sequence;  ///< index into StepBatch::sequences
};

/// Block tables of one sequence: tables[g][position / blockTokens] is the block of layer group g.
/// A table covers every position that its rows may see; blocks that left a window may hold any id.
struct StepSequence {
    std::vector<std::span<const BlockId>> tables;
};

/// Rows of one sequence stand together, positions ascending. Sequences in any order.
struct StepBatch {
    std::vector<StepRow> rows;
    std::vector<StepSequence> sequences;
    std::vector<std::uint32_t> logitRows;  ///< indices of rows, in the order in which their logits come
};

/// What a step moved and computed, from the engine's own counts; for achieved rates.
struct StepCounts {
    std::uint64_t weightBytes = 0;
    std::uint64_t kvBytesRead = 0;
    std::uint64_t multiplyAdds = 0;
};

/// A compiled plan with its KV storage. Used from the engine loop's thread only.
class Executor {
public:
    virtual ~Executor() = default;
    /// Runs one step. logits: logitRows.size() x vocabulary values, row after row.
    /// Errors: Io if the model file changed under the mapping. After an error KV of the batch's rows is undefined.
    virtual Status run(const StepBatch& batch, std::span<float> logits) = 0;
    virtual StepCounts lastCounts() const = 0;
    virtual std::size_t vocabulary() const = 0;
    virtual std::uint64_t kvBytes() const = 0;
    /// Working memory beside weights and KV.
    virtual std::uint64_t workBytes() const = 0;
    /// Name of the instruction set in use ("plain", "avx2").
    virtual std::string isa() const = 0;
    /// "int8" if any product rounds its activations to int8, else "f32".
    virtual std::string arithmeticName() const = 0;
};

class Backend {
public:
    virtual ~Backend() = default;
    /// `plan` (and the mapping behind its weights) must outlive the executor.
    virtual Result<std::unique_ptr<Executor>> compile(const Plan& plan, const BackendOptions& options) = 0;
};

/// Bytes that a pool block of each group takes: sum over its layers of 2 * kvHeads * headDim * blockTokens * size.
std::vector<std::uint64_t> kvBlockBytes(const Plan& plan, std::uint32_t blockTokens, KvPrecision precision);

}  // namespace firsttoken::engine
