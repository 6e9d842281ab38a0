#include "engine/core/evaluator.h"

#include <algorithm>

#include "engine/sample/sampler.h"

namespace firsttoken::engine {

namespace {

constexpr std::uint32_t kChunkRows = 512;

std::int64_t positions(const EvaluateRequest& request) {
    return static_cast<std::int64_t>(request.tokens.size()) + std::max<std::int64_t>(request.greedy - 1, 0);
}

}  // namespace

Status Evaluator::check(const EvaluateRequest& request) const {
    if (request.tokens.empty()) return Error{ErrorCode::BadInput, "there are no tokens to evaluate"};
    if (request.greedy < 0) return Error{ErrorCode::BadInput, "the number of greedy tokens is negative"};
    const auto vocabulary = static_cast<TokenId>(m_executor.vocabulary());
    for (const TokenId token : request.tokens) {
        if (token >= 0 && token < vocabulary) continue;
        return Error{ErrorCode::BadInput, "token id " + std::to_string(token) + " is outside the vocabulary of " +
                                              std::to_string(vocabulary)};
    }
    if (request.greedy > m_contextTokens || positions(request) > m_contextTokens) {
        return Error{ErrorCode::DoesNotFit,
                     std::to_string(request.tokens.size()) + " tokens and " + std::to_string(request.greedy) +
                         " greedy ones do not fit a context of " + std::to_string(m_contextTokens)};
    }
    for (std::size_t g = 0; g < m_cache.groups().size(); ++g) {
        const std::uint32_t needed = blocks(request, g);
        if (needed <= m_cache.groups()[g].blocks) continue;
        return Error{ErrorCode::DoesNotFit, std::to_string(positions(request)) + " tokens need " +
                                                std::to_string(needed) + " KV blocks; there are " +
                                                std::to_string(m_cache.groups()[g].blocks)};
    }
    return Done{};
}

std::uint32_t Evaluator::blocks(const EvaluateRequest& request, std::size_t g) const {
    return m_cache.blocksNeeded(g, static_cast<std::uint32_t>(positions(request)), kChunkRows);
}

bool Evaluator::ready(const EvaluateRequest& request) const {
    for (std::size_t g = 0; g < m_cache.groups().size(); ++g) {
        if (m_cache.freeable(g) < blocks(request, g)) return false;
    }
    return true;
}

Result<Evaluation> Evaluator::run(const EvaluateRequest& request) {
    Result<Evaluation> result = runToEnd(request);
    m_cache.release(m_blocks);
    return result;
}

Result<Evaluation> Evaluator::runToEnd(const EvaluateRequest& request) {
    Evaluation evaluation;
    evaluation.isa = m_executor.isa();
    evaluation.arithmetic = m_executor.arithmeticName();
    std::vector<TokenId> tokens = request.tokens;
    std::vector<float> logits(m_executor.vocabulary());
    if (Status done = compute(tokens, 0, logits); !done) return done.error();
    evaluation.logits = logits;
    for (std::int64_t i = 0; i < request.greedy; ++i) {
        const auto token = greedyToken(logits);
        if (!token) return token.error();
        evaluation.greedy.push_back(*token);
        if (i + 1 == request.greedy) break;
        tokens.push_back(*token);
        if (Status done = compute(tokens, tokens.size() - 1, logits); !done) return done.error();
    }
    return evaluation;
}

/// Runs tokens[from …) in chunks; logits of the last one.
Status Evaluator::compute(const std::vector<TokenId>& tokens, std::size_t from, std::vector<float>& logits) {
    for (std::size_t first = from; first < tokens.size(); first += kChunkRows) {
        const std::size_t last = std::min<std::size_t>(first + kChunkRows, tokens.size());
        if (!m_cache.grow(m_blocks, static_cast<std::uint32_t>(last))) {
            return Error{ErrorCode::DoesNotFit, "the KV cache has no block for position " + std::to_string(last)};
        }
        StepBatch batch;
        StepSequence sequence;
        for (const auto& table : m_blocks.tables) sequence.tables.emplace_back(table);
        batch.sequences.push_back(std::move(sequence));
        for (std::size_t p = first; p < last; ++p) {
            batch.rows.push_back({tokens[p], static_cast<std::uint32_t>(p), 0});
        }
        if (last == tokens.size()) batch.logitRows.push_back(static_cast<std::uint32_t>(batch.rows.size() - 1));
        if (Status ran = m_executor.run(batch, logits); !ran) return ran;
        m_cache.slide(m_blocks, static_cast<std::uint32_t>(last));
    }
    return Done{};
}

}  // namespace firsttoken::engine
