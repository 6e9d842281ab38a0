#pragma once

#include <cstdint>

#include "engine/cache/kv_cache.h"
#include "engine/compute/backend.h"
#include "engine/engine.h"

namespace firsttoken::engine {

/// Logits of a token list, and greedy tokens after it, between two steps of the loop. Engine loop's thread only.
class Evaluator {
public:
    Evaluator(Executor& executor, KvCache& cache, std::int64_t contextTokens)
        : m_executor(executor), m_cache(cache), m_contextTokens(contextTokens) {}

    /// What makes the request impossible whatever else runs; nothing if it only has to wait for blocks.
    Status check(const EvaluateRequest& request) const;
    /// True if its blocks could be had now.
    bool ready(const EvaluateRequest& request) const;
    Result<Evaluation> run(const EvaluateRequest& request);

private:
    std::uint32_t blocks(const EvaluateRequest& request, std::size_t g) const;
    Status compute(const std::vector<TokenId>& tokens, std::size_t from, std::vector<float>& logits);
    Result<Evaluation> runToEnd(const EvaluateRequest& request);

    Executor& m_executor;
    KvCache& m_cache;
    std::int64_t m_contextTokens;
    SequenceBlocks m_blocks;
};

}  // namespace firsttoken::engine
