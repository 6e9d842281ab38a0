#include <algorithm>

#include "engine/profile/settings.h"

namespace firsttoken::engine {

namespace {

constexpr std::int64_t defaultContextTokens = 8192;
constexpr std::int64_t mostThreads = 256;

/// Works on the effective profile and notes each change beside what was requested.
class Effect {
public:
    Effect(const Profile& requested, const ProfileFacts& facts) : m_requested(requested), m_facts(facts) {
        m_result.profile = requested;
    }

    EffectiveProfile result() && {
        model();
        cache();
        device();
        scheduler();
        return std::move(m_result);
    }

private:
    template <class Value>
    void change(std::string_view section, std::string_view key, Value& place, Value value, std::string reason) {
        const Setting* setting = findSetting(section, key);
        place = std::move(value);
        m_result.changes.push_back({dottedName(*setting), yamlText(*setting, m_requested),
                                    yamlText(*setting, m_result.profile), std::move(reason)});
    }

    void model() {
        auto& model = m_result.profile.model;
        if (model.precision != Precision::AsStored && model.precision != Precision::F32) {
            change("model", "precision", model.precision, Precision::AsStored,
                   "this build does not convert weights to that format yet; they are used as the file stores them");
        }
        const std::int64_t length = m_facts.contextLength.value_or(0);
        if (length <= 0) return;
        if (!model.maxContextTokens) {
            model.maxContextTokens = std::min(length, defaultContextTokens);
        } else if (*model.maxContextTokens > length) {
            change("model", "max_context_tokens", model.maxContextTokens, std::optional(length),
                   "the model's context length is " + std::to_string(length) + " tokens");
        }
    }

    void cache() {
        auto& cache = m_result.profile.cache;
        if (cache.kvPrecision != KvCachePrecision::F16 && cache.kvPrecision != KvCachePrecision::F32) {
            change("cache", "kv_precision", cache.kvPrecision, KvCachePrecision::F16,
                   "this build keeps KV in f16 or f32 only");
        }
        if (!cache.kvCache && cache.prefixCache) {
            change("cache", "prefix_cache", cache.prefixCache, false,
                   "without a KV cache there is nothing that a later prompt could reuse");
        }
    }

    void device() {
        auto& device = m_result.profile.device;
        if (device.kind == DeviceKind::Cuda) {
            change("device", "kind", device.kind, DeviceKind::Cpu,
                   m_facts.cudaPresent ? "this build has no CUDA backend yet" : "no CUDA device was found");
        }
        device.kind = DeviceKind::Cpu;
        if (device.gpuLayers.value_or(0) > 0) {
            change("device", "gpu_layers", device.gpuLayers, std::optional<std::int64_t>(0),
                   "all layers run on the CPU");
        }
        device.gpuLayers = 0;
        if (!device.deterministic.value_or(true)) {
            change("device", "deterministic", device.deterministic, std::optional(true),
                   "the CPU engine always gives the same logits");
        }
        device.deterministic = true;
        if (!device.threads) {
            device.threads = std::clamp<std::int64_t>(m_facts.cores, 1, mostThreads);
        } else if (*device.threads > mostThreads) {
            change("device", "threads", device.threads, std::optional(mostThreads),
                   "the engine uses at most " + std::to_string(mostThreads) + " threads");
        }
    }

    void scheduler() {
        const auto& model = m_result.profile.model;
        auto& scheduler = m_result.profile.scheduler;
        const std::int64_t context = model.maxContextTokens.value_or(0);
        if (!scheduler.chunkedPrefill && scheduler.maxBatchTokens < context) {
            change("scheduler", "max_batch_tokens", scheduler.maxBatchTokens, context,
                   "without chunked prefill a whole prompt of up to " + std::to_string(context) +
                       " tokens must fit into one step");
        }
        if (scheduler.maxConcurrentSequences > scheduler.maxBatchTokens) {
            change("scheduler", "max_concurrent_sequences", scheduler.maxConcurrentSequences, scheduler.maxBatchTokens,
                   "a step holds at most max_batch_tokens rows, and every decoding sequence needs one");
        }
    }

    const Profile& m_requested;
    const ProfileFacts& m_facts;
    EffectiveProfile m_result;
};

}  // namespace

EffectiveProfile effectiveProfile(const Profile& requested, const ProfileFacts& facts) {
    return Effect(requested, facts).result();
}

}  // namespace firsttoken::engine
