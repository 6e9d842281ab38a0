#pragma once

#include <QtTest>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "engine/engine.h"
#include "tests/support/shared_folder.h"

namespace firsttoken::tests {

/// Loads a fixture model with the profile's YAML on top of the defaults.
inline std::unique_ptr<engine::Engine> loadEngine(const std::string& model, const std::string& yaml = {}) {
    engine::EngineOptions options;
    options.modelPath = fixture(model);
    const auto parsed = engine::parseProfile(yaml);
    if (!parsed.errors.empty()) qFatal("%s", parsed.errors.front().message.c_str());
    options.profile = parsed.profile;
    auto loaded = engine::Engine::load(options);
    if (!loaded) qFatal("%s", loaded.error().message.c_str());
    return std::move(*loaded);
}

inline std::vector<engine::TokenId> randomPrompt(std::size_t length, unsigned seed, int vocabulary = 250) {
    std::mt19937 random(seed);
    std::vector<engine::TokenId> tokens;
    for (std::size_t i = 0; i < length; ++i) {
        tokens.push_back(static_cast<engine::TokenId>(3 + random() % static_cast<unsigned>(vocabulary)));
    }
    return tokens;
}

inline engine::Request greedyRequest(std::vector<engine::TokenId> prompt, std::int64_t maxTokens) {
    engine::Request request;
    request.prompt = std::move(prompt);
    request.maxTokens = maxTokens;
    request.sampling.temperature = 0;
    request.ignoreEndOfGeneration = true;
    return request;
}

/// Collects the updates of any number of requests.
class Client {
public:
    struct Answer {
        std::string text;
        std::vector<engine::TokenId> tokens;
        std::vector<engine::RequestUpdate> updates;
        int terminals = 0;
        engine::RequestUpdate last;
    };

    engine::UpdateSink sink() {
        return [this](const engine::RequestUpdate& update) {
            const std::lock_guard lock(m_mutex);
            Answer& answer = m_answers[update.request];
            answer.text += update.text;
            answer.tokens.insert(answer.tokens.end(), update.tokens.begin(), update.tokens.end());
            answer.updates.push_back(update);
            answer.last = update;
            if (update.state == engine::RequestState::Finished) ++answer.terminals;
            m_changed.notify_all();
        };
    }
    Answer finished(engine::RequestId id) {
        return until(id, [](const Answer& answer) { return answer.terminals > 0; });
    }
    Answer until(engine::RequestId id, const std::function<bool(const Answer&)>& enough) {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return enough(m_answers[id]); });
        return m_answers[id];
    }
    Answer run(engine::Engine& engine, engine::Request request) {
        return finished(engine.submit(std::move(request), sink()));
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::map<engine::RequestId, Answer> m_answers;
};

}  // namespace firsttoken::tests
