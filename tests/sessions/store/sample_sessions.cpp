#include "tests/sessions/store/sample_sessions.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace firsttoken::tests {

using namespace sessions;

namespace {

SessionHeader fixtureHeader() {
    SessionHeader header;
    header.startedAt = 1767225600.25;
    header.endedAt = 1767225660.5;
    header.clockStartNs = 123'456'789'012;
    header.note = "first note";
    header.starred = true;
    header.modelPath = "models/fixture.gguf";
    header.modelName = "Fixture";
    header.architecture = "llama";
    header.modelFormat = "Q4_0";
    header.modelBytes = 1'234'567;
    header.modelHash = std::string(64, 'a');
    header.profileName = "production";
    header.requestedProfile = R"({"model":{"precision":"fp8"}})";
    header.effectiveProfile = R"({"model":{"precision":"as_stored"}})";
    header.profileChanges = R"([{"key":"model.precision","requested":"fp8","effective":"as_stored","reason":"CPU"}])";
    header.arithmetic = "int8";
    header.isa = "avx2";
    header.machine = R"({"processor":"Fixture CPU","cores":2})";
    header.build = "0.1.0 g++ 12";
    header.driver = "580.1";
    return header;
}

RequestRecord fixtureRequest(std::int64_t number) {
    RequestRecord record;
    record.number = number;
    record.plannedNs = number * 1'000'000'000;
    record.sentNs = record.plannedNs + 15'000;
    record.scheduledNs = record.plannedNs + 200'000;
    record.prefillEndNs = record.plannedNs + 90'000'000;
    record.firstTokenNs = record.plannedNs + 95'000'000;
    record.endNs = record.plannedNs + 400'000'000;
    record.deltaNs = {*record.firstTokenNs, record.plannedNs + 200'000'000, record.plannedNs + 400'000'000};
    record.promptTokens = 12;
    record.cachedTokens = 4;
    record.outputTokens = 3;
    record.preemptions = 1;
    record.reason = engine::FinishReason::Stop;
    record.detail = "stop string";
    record.tier = "small";
    record.routingReason = "short prompt";
    record.prefixGroup = 2;
    record.hungUp = number == 2;
    record.prompt = "What is latency?";
    record.output = "Naïve waiting, measured.";
    return record;
}

SessionData fixtureSession() {
    SessionData data;
    data.header = fixtureHeader();
    data.requests = {fixtureRequest(1), fixtureRequest(2)};
    data.spans = {{1, engine::Stage::Queue, 1'000'015'000, 1'000'200'000},
                  {1, engine::Stage::Prefill, 1'000'200'000, 1'090'000'000},
                  {2, engine::Stage::Stream, 2'095'000'000, 2'400'000'000}};
    SampleRecord sample;
    sample.atNs = 1'100'000'000;
    sample.queued = 0;
    sample.decoding = 1;
    sample.blocksTotal = 64;
    sample.decodeTokensPerS = 41.5;
    sample.deviceUse = 0.75;
    data.samples = {SampleRecord{}, sample};
    data.marks = {{0, MarkKind::Note, "begun"}, {2'000'000'000, MarkKind::LoadEnd, ""}};
    return data;
}

class Maker {
public:
    Maker(std::mt19937_64& random, bool plausible) : m_random(random), m_plausible(plausible) {}

    std::int64_t below(std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(m_random);
    }
    bool coin() { return below(2) == 0; }
    /// A count, or a time.
    std::int64_t integer() {
        if (m_plausible) return below(1'000'000'000'000);
        using Limits = std::numeric_limits<std::int64_t>;
        switch (below(8)) {
            case 0:
                return Limits::max();
            case 1:
                return Limits::min();
            case 2:
                return -below(1'000'000);
            default:
                return below(1'000'000'000'000);
        }
    }
    double real() { return std::uniform_real_distribution<double>(-1e6, 1e9)(m_random); }
    std::string text() {
        static const std::string parts[] = {"word", " ",  "\"quoted\"", ",",  "\n",   "\r\n", "=1+2",
                                            "-5",   "@x", "\t",         "é",  "漢字", "😀",    std::string(1, '\0'),
                                            "'",    ";",  "</script>",  "\\", "\x7F"};
        std::string text;
        for (auto n = below(6); n > 0; --n) text += parts[static_cast<std::size_t>(below(std::ssize(parts)))];
        return text;
    }
    std::optional<std::int64_t> maybeInteger() { return coin() ? std::optional(integer()) : std::nullopt; }
    std::optional<double> maybeReal() { return coin() ? std::optional(real()) : std::nullopt; }
    template <class E>
    E any(E last) {
        return static_cast<E>(below(static_cast<std::int64_t>(last) + 1));
    }

    bool plausible() const { return m_plausible; }

private:
    std::mt19937_64& m_random;
    const bool m_plausible;
};

SessionHeader randomHeader(Maker& make) {
    SessionHeader h;
    h.kind = make.any(SessionKind::Load);
    do {
        h.state = make.any(SessionState::Interrupted);
    } while (h.state == SessionState::Running);
    h.startedAt = make.real();
    h.endedAt = make.maybeReal();
    h.clockStartNs = make.integer();
    h.starred = make.coin();
    h.modelBytes = static_cast<std::uint64_t>(make.integer());
    if (make.coin()) h.seed = static_cast<std::uint64_t>(make.integer());
    for (auto* text : {&h.title, &h.note, &h.failure, &h.modelPath, &h.modelName, &h.architecture, &h.modelFormat,
                       &h.modelHash, &h.profileName, &h.requestedProfile, &h.effectiveProfile, &h.profileChanges,
                       &h.arithmetic, &h.isa, &h.workload, &h.machine, &h.build, &h.driver}) {
        *text = make.text();
    }
    if (make.coin()) h.workload = R"({"requests":10,"rate":2.5,"names":["a","b"]})";
    if (make.coin()) h.machine = R"({ "not" : "compact" })";
    return h;
}

RequestRecord randomRequest(Maker& make, std::int64_t number) {
    RequestRecord r;
    r.number = number;
    r.plannedNs = make.integer();
    r.sentNs = make.maybeInteger();
    r.scheduledNs = make.maybeInteger();
    r.prefillEndNs = make.maybeInteger();
    r.firstTokenNs = make.maybeInteger();
    r.endNs = make.maybeInteger();
    for (auto n = make.below(20); n > 0; --n) r.deltaNs.push_back(make.integer());
    if (make.plausible()) std::sort(r.deltaNs.begin(), r.deltaNs.end());
    r.promptTokens = make.integer();
    r.cachedTokens = make.integer();
    r.outputTokens = make.integer();
    r.preemptions = make.integer();
    r.reason = make.any(engine::FinishReason::Error);
    r.prefixGroup = make.integer();
    r.hungUp = make.coin();
    for (auto* text : {&r.detail, &r.tier, &r.routingReason, &r.prompt, &r.output}) *text = make.text();
    return r;
}

SampleRecord randomSample(Maker& make) {
    SampleRecord s;
    s.atNs = make.integer();
    for (auto* field : {&s.queued, &s.prefilling, &s.decoding, &s.blocksTotal, &s.blocksReferenced, &s.blocksCached,
                        &s.residentBytes, &s.availableBytes, &s.majorFaults}) {
        *field = make.maybeInteger();
    }
    for (auto* field : {&s.prefillTokensPerS, &s.decodeTokensPerS, &s.deviceUse, &s.processCpu, &s.machineCpu,
                        &s.achievedGbPerS, &s.achievedTopPerS, &s.watts}) {
        *field = make.maybeReal();
    }
    return s;
}

template <class Record>
void sortByTime(std::vector<Record>& records) {
    std::stable_sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.atNs < b.atNs; });
}

SessionData randomData(Maker make) {
    SessionData data;
    data.header = randomHeader(make);
    std::int64_t number = make.plausible() ? 0 : -3;
    for (auto n = make.below(12); n > 0; --n) {
        number += 1 + make.below(3);
        data.requests.push_back(randomRequest(make, number));
    }
    for (auto n = make.below(12); n > 0; --n) {
        data.spans.push_back({make.integer(), make.any(engine::Stage::Stream), make.integer(), make.integer()});
    }
    for (auto n = make.below(6); n > 0; --n) data.samples.push_back(randomSample(make));
    for (auto n = make.below(6); n > 0; --n) {
        data.marks.push_back({make.integer(), make.any(MarkKind::Note), make.text()});
    }
    sortByTime(data.samples);
    sortByTime(data.marks);
    return data;
}

}  // namespace

SessionData fixtureChat() {
    auto data = fixtureSession();
    data.header.kind = SessionKind::Chat;
    data.header.state = SessionState::Completed;
    data.header.title = "About latency";
    return data;
}

SessionData fixtureLoad() {
    auto data = fixtureSession();
    data.header.kind = SessionKind::Load;
    data.header.state = SessionState::Failed;
    data.header.failure = "the engine stopped";
    data.header.title = "Sixteen clients";
    data.header.workload = R"({"requests":2,"clients":16})";
    data.header.seed = 0xFFFF'FFFF'FFFF'FFFEU;
    return data;
}

SessionData randomSession(std::mt19937_64& random) { return randomData(Maker(random, false)); }
SessionData plausibleSession(std::mt19937_64& random) { return randomData(Maker(random, true)); }

SessionData largeLoad(std::int64_t requests) {
    constexpr std::int64_t ms = 1'000'000;
    SessionData data;
    data.header = fixtureLoad().header;
    std::mt19937_64 random(4);
    std::uniform_int_distribution<std::int64_t> jitter(0, ms);
    for (std::int64_t number = 1; number <= requests; ++number) {
        auto record = fixtureRequest(number);
        record.plannedNs = number * 5 * ms;
        record.sentNs = record.plannedNs + jitter(random) / 50;
        record.scheduledNs = *record.sentNs + jitter(random);
        record.prefillEndNs = *record.scheduledNs + 40 * ms + jitter(random);
        record.deltaNs.clear();
        auto at = *record.prefillEndNs;
        for (int token = 0; token < 64; ++token) record.deltaNs.push_back(at += 18 * ms + jitter(random));
        record.firstTokenNs = record.deltaNs.front();
        record.endNs = record.deltaNs.back();
        record.outputTokens = 64;
        record.prompt.clear();
        record.output.clear();
        data.spans.push_back({number, engine::Stage::Queue, *record.sentNs, *record.scheduledNs});
        data.spans.push_back({number, engine::Stage::Prefill, *record.scheduledNs, *record.prefillEndNs});
        data.spans.push_back({number, engine::Stage::Decode, *record.prefillEndNs, *record.endNs});
        data.spans.push_back({number, engine::Stage::Stream, *record.firstTokenNs, *record.endNs});
        if (number % 10 == 0) {
            auto& sample = data.samples.emplace_back();
            sample.atNs = record.plannedNs;
            sample.decoding = number % 64;
        }
        data.requests.push_back(std::move(record));
    }
    return data;
}

}  // namespace firsttoken::tests
