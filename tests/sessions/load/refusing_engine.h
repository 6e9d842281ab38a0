#pragma once

#include "engine/engine.h"

namespace firsttoken::tests {

/// An engine that is there in all respects but one: every request fails.
class RefusingEngine final : public engine::Engine {
public:
    explicit RefusingEngine(engine::Engine& real) : m_real(real) {}

    engine::RequestId submit(engine::Request, engine::UpdateSink sink) override {
        engine::RequestUpdate update;
        update.request = ++m_ids;
        update.state = engine::RequestState::Finished;
        update.reason = engine::FinishReason::Error;
        update.detail = "out of order";
        sink(update);
        return m_ids;
    }
    void cancel(engine::RequestId) override {}
    void disconnect(engine::RequestId) override {}
    engine::Result<engine::Evaluation> evaluate(const engine::EvaluateRequest& request) override {
        return m_real.evaluate(request);
    }
    engine::EngineSnapshot snapshot() const override { return m_real.snapshot(); }
    engine::EventBatch events(std::uint64_t from) const override { return m_real.events(from); }
    const engine::ModelInfo& model() const override { return m_real.model(); }
    const engine::Text& text() const override { return m_real.text(); }
    const engine::Profile& requestedProfile() const override { return m_real.requestedProfile(); }
    const engine::EffectiveProfile& effective() const override { return m_real.effective(); }
    std::string isa() const override { return m_real.isa(); }
    std::string arithmetic() const override { return m_real.arithmetic(); }

private:
    engine::Engine& m_real;
    engine::RequestId m_ids = 0;
};

}  // namespace firsttoken::tests
