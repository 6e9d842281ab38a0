#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace firsttoken::sessions {

/// What a load is sent to. Called by the generator's thread.
class LoadTarget {
public:
    struct Submission {
        std::vector<engine::TokenId> prompt;
        std::int64_t maxTokens = 1;
        bool ignoreEndOfGeneration = true;
        std::uint64_t samplingSeed = 0;
    };
    virtual ~LoadTarget() = default;

    /// Never waits. The sink is called on any thread, also before this returns, with times of the load's clock; it
    /// returns at once and does not call back. Exactly one update is Finished, and it is the last.
    virtual engine::RequestId submit(Submission submission, engine::UpdateSink sink) = 0;
    virtual void cancel(engine::RequestId request) = 0;
    /// The client leaves.
    virtual void disconnect(engine::RequestId request) = 0;
    /// Whether a request whose client has left still gets its Finished update.
    virtual bool tellsEndAfterDisconnect() const = 0;
    virtual engine::EngineSnapshot snapshot() const = 0;
};

/// The engine of this process. Sampling is the profile's, with the submission's seed.
class EngineTarget final : public LoadTarget {
public:
    /// `cacheSalt`: the prefix-cache namespace of this load. The engine must outlive it.
    EngineTarget(engine::Engine& engine, std::string cacheSalt);

    engine::RequestId submit(Submission submission, engine::UpdateSink sink) override;
    void cancel(engine::RequestId request) override { m_engine.cancel(request); }
    void disconnect(engine::RequestId request) override { m_engine.disconnect(request); }
    /// An engine that does not cancel on disconnect runs on for nobody, and tells nobody.
    bool tellsEndAfterDisconnect() const override;
    engine::EngineSnapshot snapshot() const override { return m_engine.snapshot(); }

private:
    engine::Engine& m_engine;
    std::string m_cacheSalt;
};

}  // namespace firsttoken::sessions
