#include "engine/model/hyperparameters.h"

#include <fmt/format.h>

#include <algorithm>

namespace firsttoken::engine {

namespace {

constexpr std::int64_t maxLayers = 4096;
constexpr std::int64_t maxWidth = std::int64_t{1} << 24;  // of embedding, feed-forward, vocabulary
constexpr std::int64_t maxHeads = std::int64_t{1} << 16;
constexpr std::int64_t maxHeadDim = std::int64_t{1} << 14;
constexpr std::int64_t maxContext = (std::int64_t{1} << 31) - 1;

template <class To>
std::vector<To> narrowed(const std::vector<std::int64_t>& values) {
    std::vector<To> result;
    result.reserve(values.size());
    for (const std::int64_t value : values) result.push_back(static_cast<To>(value));
    return result;
}

/// Reads into one Hyperparameters; the first fault stays.
class Reader {
public:
    explicit Reader(const GgufFile& file) : m_file(file) {}

    Result<Hyperparameters> read() {
        sizes();
        if (!m_fault) heads();
        if (!m_fault) rope();
        if (!m_fault) vocabulary();
        if (m_fault) return *m_fault;
        return std::move(m_values);
    }

private:
    template <class T>
    T take(Result<T> result) {
        if (result.ok()) return std::move(*result);
        fail(result.error());
        return T();
    }
    void fail(Error error) {
        if (!m_fault) m_fault = std::move(error);
    }

    void sizes();
    void heads();
    void rope();
    RopeScaling ropeScaling();
    void vocabulary();

    std::optional<std::int64_t> integer(const char* name, std::int64_t min, std::int64_t max) {
        return take(m_file.integer(m_values.key(name), min, max));
    }
    std::optional<double> real(const char* name, double min, double max) {
        return take(m_file.real(m_values.key(name), min, max));
    }

    const GgufFile& m_file;
    Hyperparameters m_values;
    std::optional<Error> m_fault;
};

void Reader::sizes() {
    m_values.architecture = std::string(take(m_file.requireString("general.architecture")));
    if (m_fault) return;
    const auto required = [this](const char* name, std::int64_t max) {
        const auto value = m_file.requireInteger(m_values.key(name), 1, max);
        if (!value) fail(value.error());
        return value ? *value : 0;
    };
    m_values.layers = static_cast<std::uint32_t>(required("block_count", maxLayers));
    m_values.contextLength = required("context_length", maxContext);
    m_values.embeddingLength = static_cast<std::size_t>(required("embedding_length", maxWidth));
    const auto epsilon = m_file.requireReal(m_values.key("attention.layer_norm_rms_epsilon"), 1e-30, 1.0);
    if (!epsilon) fail(epsilon.error());
    if (m_fault) return;
    m_values.epsilon = static_cast<float>(*epsilon);
    m_values.feedForwardLength = narrowed<std::size_t>(
        take(m_file.requirePerLayer(m_values.key("feed_forward_length"), m_values.layers, 1, maxWidth)));
    m_values.experts = integer("expert_count", 0, maxHeads).value_or(0);
}

void Reader::heads() {
    const auto heads = take(m_file.requirePerLayer(m_values.key("attention.head_count"), m_values.layers, 1, maxHeads));
    const auto kvKey = m_values.key("attention.head_count_kv");
    const auto kvHeads = take(m_file.perLayer(kvKey, m_values.layers, 1, maxHeads)).value_or(heads);
    if (m_fault) return;
    for (std::size_t layer = 0; layer < heads.size(); ++layer) {
        if (heads[layer] % kvHeads[layer] == 0) continue;
        return fail(m_file.fault(fmt::format("the key '{}' is {} in layer {}, which does not divide the {} heads",
                                             kvKey, kvHeads[layer], layer, heads[layer])));
    }
    m_values.heads = narrowed<std::uint32_t>(heads);
    m_values.kvHeads = narrowed<std::uint32_t>(kvHeads);

    const auto embedding = static_cast<std::int64_t>(m_values.embeddingLength);
    const auto keyLength = integer("attention.key_length", 1, maxHeadDim);
    const auto valueLength = integer("attention.value_length", 1, maxHeadDim);
    if (m_fault) return;
    if (!keyLength && embedding % heads.front() != 0) {
        return fail(m_file.fault(fmt::format("the key '{}' is {}, which is no multiple of the {} heads",
                                             m_values.key("embedding_length"), embedding, heads.front())));
    }
    const std::int64_t headDim = keyLength.value_or(embedding / heads.front());
    if (headDim > maxHeadDim) {
        return fail(m_file.fault(fmt::format("heads of {} values are too wide (at most {})", headDim, maxHeadDim)));
    }
    if (valueLength.value_or(headDim) != headDim) {
        return fail(m_file.fault(
            fmt::format("keys of {} and values of {} differ in length, which is not supported", headDim, *valueLength),
            ErrorCode::Unsupported));
    }
    m_values.headDim = static_cast<std::uint32_t>(headDim);
}

RopeScaling Reader::ropeScaling() {
    const std::string key = m_values.key("rope.scaling.type");
    const auto name = take(m_file.string(key));
    if (!name || *name == "linear") return RopeScaling::Linear;
    if (*name == "none") return RopeScaling::None;
    if (*name == "yarn") return RopeScaling::Yarn;
    fail(m_file.fault(fmt::format("the key '{}' is '{}', which is not supported (supported: none, linear, yarn)", key,
                                  printableName(*name)),
                      ErrorCode::Unsupported));
    return RopeScaling::None;
}

void Reader::rope() {
    RopeParameters& rope = m_values.rope;
    const auto dimensions = integer("rope.dimension_count", 1, m_values.headDim).value_or(m_values.headDim);
    if (!m_fault && dimensions % 2 != 0) {
        return fail(m_file.fault(fmt::format("RoPE turns pairs of values, but a head has {} to turn", dimensions)));
    }
    rope.dimensions = static_cast<std::uint32_t>(dimensions);
    rope.base = real("rope.freq_base", 1.0 + 1e-6, 1e18).value_or(10000.0);
    rope.scaling = ropeScaling();
    const auto factor = real("rope.scaling.factor", 0.0, 1e9);
    rope.factor = (factor ? factor : real("rope.scale_linear", 0.0, 1e9)).value_or(1.0);
    if (rope.factor == 0.0 || rope.scaling == RopeScaling::None) rope.factor = 1.0;
    if (rope.factor < 1e-9) {
        return fail(m_file.fault(fmt::format("the key '{}' is {:g}, which is out of range",
                                             m_values.key("rope.scaling.factor"), rope.factor)));
    }
    const auto original = integer("rope.scaling.original_context_length", 1, maxContext);
    rope.originalContext = static_cast<double>(original.value_or(m_values.contextLength));
    rope.attentionFactor = real("rope.scaling.attn_factor", 1e-6, 1e6).value_or(1.0);
}

void Reader::vocabulary() {
    const GgufTensor* embedding = m_file.tensor("token_embd.weight");
    if (embedding == nullptr) return fail(m_file.fault("the tensor 'token_embd.weight' is missing"));
    if (embedding->shape[1] == 0 || embedding->shape[1] > static_cast<std::uint64_t>(maxWidth)) {
        return fail(m_file.fault(
            fmt::format("tensor 'token_embd.weight' of shape {} gives no possible vocabulary", shapeText(*embedding))));
    }
    m_values.vocabulary = static_cast<std::size_t>(embedding->shape[1]);
    const auto count = static_cast<std::int64_t>(m_values.vocabulary);
    const auto claimed = integer("vocab_size", 1, maxWidth);
    if (!m_fault && claimed.value_or(count) != count) {
        return fail(m_file.fault(fmt::format("the key '{}' is {}, but tensor 'token_embd.weight' has {} rows",
                                             m_values.key("vocab_size"), *claimed, count)));
    }
    // The lists' contents are the tokenizer's to read; their lengths decide which logits have a token.
    const GgufEntry* tokens = m_file.entry("tokenizer.ggml.tokens");
    if (tokens == nullptr) return;
    if (tokens->type != GgufType::Array || tokens->elementType != GgufType::String) {
        return fail(m_file.fault("the key 'tokenizer.ggml.tokens' is no array of strings"));
    }
    if (tokens->count > m_values.vocabulary) {
        return fail(m_file.fault(fmt::format("the vocabulary has {} tokens, but tensor 'token_embd.weight' has {} rows",
                                             tokens->count, count)));
    }
    for (const char* key : {"tokenizer.ggml.scores", "tokenizer.ggml.token_type"}) {
        const GgufEntry* list = m_file.entry(key);
        if (list != nullptr && (list->type != GgufType::Array || list->count != tokens->count)) {
            return fail(m_file.fault(
                fmt::format("the key '{}' does not hold one value for each of {} tokens", key, tokens->count)));
        }
    }
    for (const char* key : {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id"}) {
        take(m_file.integer(key, 0, count - 1));
    }
}

}  // namespace

Result<Hyperparameters> readHyperparameters(const GgufFile& file) { return Reader(file).read(); }

}  // namespace firsttoken::engine
