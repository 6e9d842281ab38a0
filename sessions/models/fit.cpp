#include "sessions/model_fit.h"

#include <algorithm>
#include <limits>

namespace firsttoken::sessions {

namespace {

constexpr std::int64_t defaultContext = 8192;  ///< of the built-in profile `default`
constexpr std::uint64_t defaultRows = 2048;    ///< its max_batch_tokens
constexpr std::uint64_t widthsARow = 16;       ///< activation buffers, in embedding lengths, generously

/// Saturates: a lying file must not wrap to a small need.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max() / 4 : result;
}

}  // namespace

std::optional<bool> MemoryFit::fits() const {
    if (!availableBytes) return std::nullopt;
    return needsBytes() <= *availableBytes;
}

MemoryFit memoryFit(const engine::ModelInfo& model, std::optional<std::uint64_t> availableBytes) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max() / 4;
    MemoryFit fit;
    fit.contextTokens = std::clamp<std::int64_t>(model.contextLength, 0, defaultContext);
    fit.weightBytes = std::min(model.weightBytes, most);
    fit.kvBytes = std::min(product(model.kvBytesPerToken, static_cast<std::uint64_t>(fit.contextTokens)), most);
    const auto width = static_cast<std::uint64_t>(std::max<std::int64_t>(model.embeddingLength, 0));
    const auto rows = std::min<std::uint64_t>(defaultRows, static_cast<std::uint64_t>(fit.contextTokens));
    fit.workBytes = std::min(product(product(width, rows), widthsARow * sizeof(float)), most);
    fit.availableBytes = availableBytes;
    return fit;
}

}  // namespace firsttoken::sessions
