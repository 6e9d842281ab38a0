#include "sessions/load/load_target.h"

namespace firsttoken::sessions {

EngineTarget::EngineTarget(engine::Engine& engine, std::string cacheSalt)
    : m_engine(engine), m_cacheSalt(std::move(cacheSalt)) {}

engine::RequestId EngineTarget::submit(Submission submission, engine::UpdateSink sink) {
    engine::Request request;
    request.prompt = std::move(submission.prompt);
    request.sampling = m_engine.effective().profile.sampling;
    request.sampling.seed = submission.samplingSeed;
    request.maxTokens = submission.maxTokens;
    request.ignoreEndOfGeneration = submission.ignoreEndOfGeneration;
    request.cacheSalt = m_cacheSalt;
    // plannedNs stays unset: the lag before sending is the generator's to tell, for every kind of target.
    return m_engine.submit(std::move(request), std::move(sink));
}

bool EngineTarget::tellsEndAfterDisconnect() const { return m_engine.effective().profile.response.cancelOnDisconnect; }

}  // namespace firsttoken::sessions
