#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>

#include "engine/compute/cpu/cpu_backend.h"
#include "engine/core/engine_loop.h"
#include "engine/core/kv_sizing.h"
#include "engine/device.h"
#include "engine/engine.h"

namespace firsttoken::engine {

namespace {

constexpr std::uint64_t kStepRows = 512;  ///< rows that a backend holds activations for, about

std::uint64_t logitsBytes(const Plan& plan, const Profile& profile) {
    return plan.buffers[plan.logits].width * static_cast<std::uint64_t>(profile.scheduler.maxConcurrentSequences) * 4;
}

/// Working memory beside weights and KV, before anything is allocated.
std::uint64_t estimateWorkBytes(const Plan& plan, const Profile& profile) {
    std::uint64_t width = 0;
    for (const Buffer& buffer : plan.buffers) width += buffer.width;
    width -= plan.buffers[plan.logits].width;
    const auto rows = std::min<std::uint64_t>(kStepRows, static_cast<std::uint64_t>(profile.scheduler.maxBatchTokens));
    return rows * width * 4 * 5 / 4 + logitsBytes(plan, profile);  // and a quarter for int8 copies and scratch
}

ProfileFacts factsOf(const ModelInfo& info) {
    ProfileFacts facts;
    facts.contextLength = info.contextLength;
    facts.weightBytes = info.weightBytes;
    facts.memoryBytes = availableMemoryBytes();
    facts.cores = machineFacts().cores;
    return facts;
}

BackendOptions backendOptions(const Profile& profile) {
    BackendOptions options;
    options.arithmetic = profile.model.precision == Precision::F32 ? Arithmetic::F32 : Arithmetic::AsStored;
    options.kvPrecision = profile.cache.kvPrecision == KvCachePrecision::F32 ? KvPrecision::F32 : KvPrecision::F16;
    options.blockTokens = static_cast<std::uint32_t>(profile.cache.blockTokens);
    options.maxRows = static_cast<std::uint32_t>(profile.scheduler.maxBatchTokens);
    options.threads = static_cast<std::uint32_t>(profile.device.threads.value_or(0));
    return options;
}

/// Sizes the KV pools within what memory is left, or says with the numbers why the model does not fit.
Result<std::vector<std::uint32_t>> fitMemory(const Model& model, const Profile& profile,
                                             const BackendOptions& options) {
    KvSizingInput input;
    input.blockBytes = kvBlockBytes(model.plan(), options.blockTokens, options.kvPrecision);
    input.groups = model.plan().groups;
    input.blockTokens = options.blockTokens;
    input.contextTokens = static_cast<std::uint64_t>(*profile.model.maxContextTokens);
    input.sequences = static_cast<std::uint64_t>(profile.scheduler.maxConcurrentSequences);
    input.chunkTokens = static_cast<std::uint64_t>(profile.scheduler.maxBatchTokens);
    const std::uint64_t weights = model.info().weightBytes;
    const std::uint64_t work = estimateWorkBytes(model.plan(), profile);
    const std::uint64_t available = availableMemoryBytes().value_or(~std::uint64_t{0});
    const std::uint64_t left = available > weights + work ? available - weights - work : 0;
    // Automatic: half of what is left, so that the page cache and other programs keep room.
    input.budgetBytes = profile.cache.memoryBytes.value_or(left / 2);
    input.fillBudget = profile.cache.memoryBytes.has_value();
    auto blocks = sizeKvPools(input);
    if (!blocks && profile.cache.memoryBytes) return blocks.error();
    const std::uint64_t kv = blocks ? kvPoolBytes(input, *blocks) : 0;
    if (!blocks || kv > left) {
        return Error{ErrorCode::DoesNotFit, "'" + model.info().path + "' does not fit in memory: weights " +
                                                std::to_string(weights) + " bytes, KV cache " +
                                                std::to_string(std::max(kv, input.budgetBytes)) + ", working memory " +
                                                std::to_string(work) + "; available " + std::to_string(available)};
    }
    return blocks;
}

std::unique_ptr<KvCache> makeCache(const Plan& plan, const Profile& profile, const std::vector<std::uint32_t>& blocks) {
    KvCacheConfig config;
    config.blockTokens = static_cast<std::uint32_t>(profile.cache.blockTokens);
    config.prefixCache = profile.cache.prefixCache;
    config.hashSeed = std::random_device()();  // so that no caller can prepare collisions
    for (std::size_t g = 0; g < blocks.size(); ++g) config.groups.push_back({blocks[g], plan.groups[g].window});
    return std::make_unique<KvCache>(std::move(config));
}

/// What the KV of a token depends on beside the tokens before it.
std::string cacheNameSpace(const ModelInfo& info, const Profile& profile) {
    return info.path + '\n' + std::to_string(info.fileBytes) + '\n' +
           std::to_string(static_cast<int>(profile.model.precision)) + '\n' +
           std::to_string(static_cast<int>(profile.cache.kvPrecision)) + '\n';
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::load(const EngineOptions& options) {
    const auto info = readModelInfo(options.modelPath);
    if (!info) return info.error();
    EngineLoop::Parts parts;
    parts.requested = options.profile;
    parts.effective = effectiveProfile(options.profile, factsOf(*info));
    const Profile& profile = parts.effective.profile;

    Model::Options modelOptions;
    modelOptions.contextTokens = profile.model.maxContextTokens.value_or(0);
    modelOptions.progress = options.progress;
    modelOptions.stop = options.stop;
    auto model = Model::open(options.modelPath, modelOptions);
    if (!model) return model.error();
    parts.model = *model;
    auto text = openText(options.modelPath);
    if (!text) return text.error();
    parts.text = *text;

    const char* isa = std::getenv("FIRSTTOKEN_ISA");
    auto backend = makeCpuBackend(isa != nullptr ? isa : "");
    if (!backend) return backend.error();
    BackendOptions backendSetup = backendOptions(profile);
    auto blocks = fitMemory(*parts.model, profile, backendSetup);
    if (!blocks) return blocks.error();
    backendSetup.groupBlocks = *blocks;
    auto executor = (*backend)->compile(parts.model->plan(), backendSetup);
    if (!executor) return executor.error();
    parts.executor = std::move(executor).value();
    parts.cache = makeCache(parts.model->plan(), profile, *blocks);
    parts.nameSpace = cacheNameSpace(parts.model->info(), profile);
    if (options.stop.stop_requested()) return Error{ErrorCode::Cancelled, "loading was cancelled"};
    return std::unique_ptr<Engine>(std::make_unique<EngineLoop>(std::move(parts)));
}

}  // namespace firsttoken::engine
