#include "engine/profile/settings.h"

#include <algorithm>
#include <array>

#include "engine/profile/scalars.h"

namespace firsttoken::engine {

namespace {

using namespace std::string_view_literals;

constexpr std::int64_t mostTokens = INT32_MAX;
constexpr double dayMs = 86'400'000;

constexpr std::array precisionNames{"as_stored"sv, "f32"sv,  "bf16"sv, "f16"sv, "fp8"sv,
                                    "int8"sv,      "q6_k"sv, "q4_k"sv, "q4_0"sv};
constexpr std::array kvPrecisionNames{"f16"sv, "f32"sv, "bf16"sv, "fp8"sv, "int8"sv};
constexpr std::array trimNames{"refuse"sv, "drop_oldest"sv};
constexpr std::array policyNames{"fcfs"sv, "priority"sv, "shortest_prompt"sv, "longest_prefix"sv};
constexpr std::array deviceNames{"auto"sv, "cpu"sv, "cuda"sv};
constexpr std::array<std::int64_t, 5> blockSizes{1, 8, 16, 32, 64};
constexpr std::array toCome{"speculation"sv, "routing"sv, "path"sv, "serve"sv};

// clang-format off
constexpr std::array table = std::to_array<Setting>({
    {"model", "path", "a GGUF file; null: given when the engine starts",
     TextField{[](Profile& p) -> auto& { return p.model.path; }, 4096}},
    {"model", "chat_template", "a Jinja text; null: the model's own",
     TextField{[](Profile& p) -> auto& { return p.model.chatTemplate; }, 262'144}},
    {"model", "precision", "weights of the matrix products: as_stored, f32, bf16, f16, fp8, int8, q6_k, q4_k, q4_0",
     ChoiceField{precisionNames, [](const Profile& p) { return static_cast<std::size_t>(p.model.precision); },
                 [](Profile& p, std::size_t i) { p.model.precision = static_cast<Precision>(i); }}},
    {"model", "max_context_tokens", "prompt + output of one sequence; auto: the model's, at most 8192",
     OptionalIntegerField{[](Profile& p) -> auto& { return p.model.maxContextTokens; }, "auto", 1, mostTokens}},
    {"model", "trim", "a prompt over the budget: refuse, drop_oldest",
     ChoiceField{trimNames, [](const Profile& p) { return static_cast<std::size_t>(p.model.trim); },
                 [](Profile& p, std::size_t i) { p.model.trim = static_cast<TrimPolicy>(i); }}},

    {"scheduler", "continuous_batching", "false: whole batches, one after the other",
     BoolField{[](Profile& p) -> auto& { return p.scheduler.continuousBatching; }}},
    {"scheduler", "max_concurrent_sequences", "sequences that hold KV at once, 1 to 1024",
     IntegerField{[](Profile& p) -> auto& { return p.scheduler.maxConcurrentSequences; }, 1, 1024, {}}},
    {"scheduler", "max_batch_tokens", "rows of one step, prefill and decode together, 1 to 1048576",
     IntegerField{[](Profile& p) -> auto& { return p.scheduler.maxBatchTokens; }, 1, 1'048'576, {}}},
    {"scheduler", "policy", "fcfs, priority, shortest_prompt, longest_prefix",
     ChoiceField{policyNames, [](const Profile& p) { return static_cast<std::size_t>(p.scheduler.policy); },
                 [](Profile& p, std::size_t i) { p.scheduler.policy = static_cast<SchedulePolicy>(i); }}},
    {"scheduler", "chunked_prefill", "false: a prompt is computed in one step",
     BoolField{[](Profile& p) -> auto& { return p.scheduler.chunkedPrefill; }}},
    {"scheduler", "prefill_time_ms", "ms of each step that prefill may take, 1 to 1000; 0: automatic",
     IntegerField{[](Profile& p) -> auto& { return p.scheduler.prefillTimeMs; }, 0, 1000, {}}},
    {"scheduler", "max_queue", "requests that may wait; more are rejected",
     IntegerField{[](Profile& p) -> auto& { return p.scheduler.maxQueue; }, 1, 1'000'000, {}}},
    {"scheduler", "queue_timeout_ms", "ms a request may wait; 0: no limit",
     IntegerField{[](Profile& p) -> auto& { return p.scheduler.queueTimeoutMs; }, 0, 86'400'000, {}}},

    {"cache", "kv_cache", "false: every step recomputes the whole sequence",
     BoolField{[](Profile& p) -> auto& { return p.cache.kvCache; }}},
    {"cache", "prefix_cache", "reuse the KV of prompts that begin alike",
     BoolField{[](Profile& p) -> auto& { return p.cache.prefixCache; }}},
    {"cache", "memory", "bytes for KV, as 4 GiB; auto: what fits",
     BytesField{[](Profile& p) -> auto& { return p.cache.memoryBytes; }, "auto"}},
    {"cache", "block_tokens", "token positions a KV block: 1, 8, 16, 32, 64",
     IntegerField{[](Profile& p) -> auto& { return p.cache.blockTokens; }, 1, 64, blockSizes}},
    {"cache", "kv_precision", "f16, f32, bf16, fp8, int8",
     ChoiceField{kvPrecisionNames, [](const Profile& p) { return static_cast<std::size_t>(p.cache.kvPrecision); },
                 [](Profile& p, std::size_t i) { p.cache.kvPrecision = static_cast<KvCachePrecision>(i); }}},

    {"response", "streaming", "false: the answer comes whole",
     BoolField{[](Profile& p) -> auto& { return p.response.streaming; }}},
    {"response", "cancel_on_disconnect", "false: a gone client's request runs to its end",
     BoolField{[](Profile& p) -> auto& { return p.response.cancelOnDisconnect; }}},

    {"device", "kind", "auto, cpu, cuda",
     ChoiceField{deviceNames, [](const Profile& p) { return static_cast<std::size_t>(p.device.kind); },
                 [](Profile& p, std::size_t i) { p.device.kind = static_cast<DeviceKind>(i); }}},
    {"device", "threads", "auto: one a core",
     OptionalIntegerField{[](Profile& p) -> auto& { return p.device.threads; }, "auto", 1, 1024}},
    {"device", "gpu_layers", "layers on the GPU; auto: what fits",
     OptionalIntegerField{[](Profile& p) -> auto& { return p.device.gpuLayers; }, "auto", 0, 100'000}},
    {"device", "deterministic", "auto: true on the CPU",
     OptionalBoolField{[](Profile& p) -> auto& { return p.device.deterministic; }, "auto"}},

    {"sampling", "temperature", "0: always the most likely token",
     NumberField{[](Profile& p) -> auto& { return p.sampling.temperature; }, 0, 100}},
    {"sampling", "top_p", "probability mass that stays; 1: off",
     NumberField{[](Profile& p) -> auto& { return p.sampling.topP; }, 0, 1}},
    {"sampling", "top_k", "tokens that stay; 0: off",
     IntegerField{[](Profile& p) -> auto& { return p.sampling.topK; }, 0, mostTokens, {}}},
    {"sampling", "min_p", "least probability relative to the most likely token; 0: off",
     NumberField{[](Profile& p) -> auto& { return p.sampling.minP; }, 0, 1}},
    {"sampling", "typical_p", "mass of the locally typical tokens that stay; 1: off",
     NumberField{[](Profile& p) -> auto& { return p.sampling.typicalP; }, 0, 1}},
    {"sampling", "repetition_penalty", "divides the logits of tokens seen; 1 and 0: off",
     NumberField{[](Profile& p) -> auto& { return p.sampling.repetitionPenalty; }, 0, 100}},
    {"sampling", "frequency_penalty", "lowers a logit by this each time its token was seen; 0: off",
     NumberField{[](Profile& p) -> auto& { return p.sampling.frequencyPenalty; }, -100, 100}},
    {"sampling", "presence_penalty", "lowers a logit by this if its token was seen; 0: off",
     NumberField{[](Profile& p) -> auto& { return p.sampling.presencePenalty; }, -100, 100}},
    {"sampling", "seed", "none: another one each request",
     SeedField{[](Profile& p) -> auto& { return p.sampling.seed; }, "none"}},
    {"sampling", "logit_bias", "token id: added to its logit", LogitBiasField{}},

    {"slo", "ttft_ms", "ms to the first token, each request; none: no limit",
     OptionalNumberField{[](Profile& p) -> auto& { return p.slo.ttftMs; }, "none", 0, dayMs, false}},
    {"slo", "tpot_ms", "ms per output token after the first, each request; none: no limit",
     OptionalNumberField{[](Profile& p) -> auto& { return p.slo.tpotMs; }, "none", 0, dayMs, false}},
    {"slo", "e2e_ms", "ms to the last token, each request; none: no limit",
     OptionalNumberField{[](Profile& p) -> auto& { return p.slo.e2eMs; }, "none", 0, dayMs, false}},
    {"slo", "targets", "of a whole session", TargetsField{}},

    {"cost", "per_hour", "price of the device; none: unknown",
     OptionalNumberField{[](Profile& p) -> auto& { return p.cost.perHour; }, "none", 0, 1e9, true}},
    {"cost", "currency", "as EUR",
     TextField{[](Profile& p) -> auto& { return p.cost.currency; }, 16}},
});
// clang-format on

template <class Optional, class Print>
std::string orUnset(const Optional& value, std::string_view unset, Print print) {
    return value ? print(*value) : std::string(unset);
}

std::string boolText(bool value) { return value ? "true" : "false"; }

struct YamlText {
    Profile& profile;

    std::string operator()(const BoolField& f) const { return boolText(f.at(profile)); }
    std::string operator()(const OptionalBoolField& f) const { return orUnset(f.at(profile), f.unset, boolText); }
    std::string operator()(const IntegerField& f) const { return std::to_string(f.at(profile)); }
    std::string operator()(const OptionalIntegerField& f) const {
        return orUnset(f.at(profile), f.unset, [](std::int64_t value) { return std::to_string(value); });
    }
    std::string operator()(const SeedField& f) const {
        return orUnset(f.at(profile), f.unset, [](std::uint64_t value) { return std::to_string(value); });
    }
    std::string operator()(const BytesField& f) const { return orUnset(f.at(profile), f.unset, bytesText); }
    std::string operator()(const NumberField& f) const { return decimalText(f.at(profile)); }
    std::string operator()(const OptionalNumberField& f) const { return orUnset(f.at(profile), f.unset, decimalText); }
    std::string operator()(const TextField& f) const { return orUnset(f.at(profile), "null", quotedText); }
    std::string operator()(const ChoiceField& f) const { return std::string(f.names[f.get(profile)]); }
    std::string operator()(const TargetsField&) const {
        std::string text = "[";
        for (const SloTarget& target : profile.slo.targets) {
            if (text.size() > 1) text += ", ";
            text += quotedText(sloTargetText(target));
        }
        return text + "]";
    }
    std::string operator()(const LogitBiasField&) const {
        std::string text = "{";
        for (const auto& [id, bias] : profile.sampling.logitBias) {
            if (text.size() > 1) text += ", ";
            text += std::to_string(id) + ": " + decimalText(bias);
        }
        return text + "}";
    }
};

}  // namespace

std::span<const Setting> settings() { return table; }

const Setting* findSetting(std::string_view section, std::string_view key) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const Setting& setting) {
        return setting.section == section && setting.key == key;
    });
    return found == table.end() ? nullptr : &*found;
}

std::span<const std::string_view> sectionsToCome() { return toCome; }

std::string dottedName(const Setting& setting) { return std::string(setting.section) + "." + std::string(setting.key); }

std::string yamlText(const Setting& setting, const Profile& profile) {
    Profile copy = profile;  // the fields' accessors serve reading and writing alike
    return std::visit(YamlText{copy}, setting.field);
}

}  // namespace firsttoken::engine
