#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "engine/model/plan.h"
#include "engine/model_info.h"
#include "engine/result.h"

namespace firsttoken::engine {

/// A mapped GGUF file with its checked hyperparameters and plan. Immutable: any thread. The mapping lives as long
/// as the Model, and the plan's weights point into it.
class Model {
public:
    struct Options {
        /// Room of a sequence; families whose plan depends on it (LongRoPE) read it. 0: the model's own.
        std::int64_t contextTokens = 0;
        std::function<void(double)> progress;
        std::stop_token stop;
    };
    /// Errors: BadInput for anything malformed, Unsupported for architecture, tensor format or tokenizer that this
    /// build does not do (the message lists what is supported), Io, Cancelled.
    static Result<std::shared_ptr<const Model>> open(const std::string& path, const Options& options);
    static Result<std::shared_ptr<const Model>> open(const std::string& path) { return open(path, Options()); }

    virtual ~Model() = default;
    virtual const ModelInfo& info() const = 0;
    virtual const Plan& plan() const = 0;
};

}  // namespace firsttoken::engine
