#include "app/cli/bench_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>

namespace firsttoken::app {

using engine::Error;
using engine::ErrorCode;
using engine::FinishReason;
using engine::Nanoseconds;
using engine::RequestUpdate;
using engine::Result;
using engine::TokenId;

namespace {

constexpr double nanosecondsPerS = 1e9;

/// What one sequence told: written by the engine's thread until Finished, then read by the caller's.
struct Track {
    std::vector<TokenId> tokens;
    std::vector<Nanoseconds> tokenNs;  ///< one a token
    RequestUpdate last;
};

/// Collects the updates of several requests and waits for all their ends.
class Tracks {
public:
    explicit Tracks(std::size_t count) : m_tracks(count) {}

    engine::UpdateSink sink(std::size_t index) {
        return [this, index](const RequestUpdate& update) {
            const std::lock_guard lock(m_mutex);
            auto& track = m_tracks[index];
            track.tokens.insert(track.tokens.end(), update.tokens.begin(), update.tokens.end());
            track.tokenNs.resize(track.tokens.size(), update.atNs);
            track.last = update;
            if (update.state == engine::RequestState::Finished && ++m_finished == m_tracks.size()) m_all.notify_one();
        };
    }
    const std::vector<Track>& wait() {
        std::unique_lock lock(m_mutex);
        m_all.wait(lock, [this] { return m_finished == m_tracks.size(); });
        return m_tracks;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_all;
    std::vector<Track> m_tracks;
    std::size_t m_finished = 0;
};

std::vector<TokenId> randomPrompt(const engine::Engine& engine, std::int64_t tokens, std::uint64_t seed) {
    const auto vocabulary = std::max<std::uint64_t>(engine.text().vocabularySize(), 1);
    std::mt19937_64 random(seed);
    std::vector<TokenId> prompt(static_cast<std::size_t>(tokens));
    for (auto& token : prompt) token = static_cast<TokenId>(random() % vocabulary);
    return prompt;
}

engine::Request request(std::vector<TokenId> prompt, std::int64_t maxTokens) {
    engine::Request made;
    made.prompt = std::move(prompt);
    made.sampling = {};
    made.sampling.temperature = 0;
    made.maxTokens = maxTokens;
    made.ignoreEndOfGeneration = true;
    made.streaming = true;
    return made;
}

/// FNV-1a over the tokens' bytes, lowest first.
std::uint64_t digest(const std::vector<Track>& tracks) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const auto& track : tracks) {
        for (const auto token : track.tokens) {
            for (unsigned shift = 0; shift < 32; shift += 8) {
                hash ^= (static_cast<std::uint32_t>(token) >> shift) & 0xffU;
                hash *= 1099511628211ULL;
            }
        }
    }
    return hash;
}

std::optional<Error> fault(const std::vector<Track>& tracks, std::int64_t tokens) {
    for (const auto& track : tracks) {
        if (track.last.reason == FinishReason::Rejected) return Error{ErrorCode::DoesNotFit, track.last.detail};
        if (track.last.reason != FinishReason::Length || track.tokens.size() != static_cast<std::size_t>(tokens)) {
            return Error{ErrorCode::Internal,
                         fmt::format("a run ended after {} of {} tokens: {} {}", track.tokens.size(), tokens,
                                     engine::toString(track.last.reason), track.last.detail)};
        }
    }
    return std::nullopt;
}

Result<BenchRun> rate(std::uint64_t tokens, Nanoseconds duration, std::uint64_t hash) {
    if (duration <= 0 || tokens == 0) return Error{ErrorCode::Internal, "a run was too short to be timed"};
    return BenchRun{static_cast<double>(tokens) * nanosecondsPerS / static_cast<double>(duration), hash};
}

}  // namespace

Result<BenchRun> runPrefill(engine::Engine& engine, std::int64_t tokens) {
    const auto tracks = std::make_shared<Tracks>(1);
    engine.submit(request(randomPrompt(engine, tokens, 1), 1), tracks->sink(0));
    const auto& ended = tracks->wait();
    if (const auto failed = fault(ended, 1)) return *failed;
    const auto& times = ended.front().last.times;
    return rate(static_cast<std::uint64_t>(tokens), times.prefillEndNs - times.firstScheduledNs, digest(ended));
}

Result<BenchRun> runDecode(engine::Engine& engine, std::int64_t tokens, std::int64_t sequences) {
    const auto count = static_cast<std::size_t>(sequences);
    const auto tracks = std::make_shared<Tracks>(count);
    for (std::size_t i = 0; i < count; ++i) {
        engine.submit(request(randomPrompt(engine, decodePromptTokens, 1 + i), tokens), tracks->sink(i));
    }
    const auto& ended = tracks->wait();
    if (const auto failed = fault(ended, tokens)) return *failed;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    for (const auto& track : ended) {
        start = std::max(start, track.tokenNs.front());
        end = std::max(end, track.tokenNs.back());
    }
    std::uint64_t inside = 0;
    for (const auto& track : ended) {
        inside += static_cast<std::uint64_t>(
            std::count_if(track.tokenNs.begin(), track.tokenNs.end(), [&](Nanoseconds at) { return at > start; }));
    }
    return rate(inside, end - start, digest(ended));
}

}  // namespace firsttoken::app
