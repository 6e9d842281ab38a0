#include "sessions/load/request_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sessions/load/prompt_writer.h"
#include "sessions/load/random_stream.h"

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Nanoseconds;
using engine::Result;

namespace {

constexpr double nsPerS = 1e9;
constexpr std::int64_t mostCheckedAhead = 100'000;  ///< requests of a closed loop that only time limits

double drawLength(const TokenLength& length, RandomStream& random) {
    if (length.kind == LengthKind::Normal) return length.mean + length.sd * random.normal();
    const double spread = length.sd / length.mean;
    const double variance = std::log1p(spread * spread);
    return std::exp(std::log(length.mean) - variance / 2 + std::sqrt(variance) * random.normal());
}

/// Drawn again while outside min … max, so that no weight piles up at the ends; where the range is all but
/// impossible, the nearer end.
std::int64_t tokens(const TokenLength& length, RandomStream random) {
    if (length.kind == LengthKind::Fixed || length.sd <= 0) return std::llround(length.mean);
    const double least = static_cast<double>(length.min);
    const double most = static_cast<double>(length.max);
    constexpr int tries = 100;
    double drawn = length.mean;
    for (int i = 0; i < tries; ++i) {
        drawn = std::round(drawLength(length, random));
        if (drawn >= least && drawn <= most) break;
    }
    return static_cast<std::int64_t>(std::clamp(drawn, least, most));
}

}  // namespace

struct RequestPlanner::State {
    State(const Workload& w, const engine::Text& text) : workload(w), writer(text) {
        if (workload.sharedPrefix.share <= 0) return;
        const std::int64_t length = std::max<std::int64_t>(workload.prefixTokens() - writer.tokensAtEnd(), 1);
        for (std::int64_t group = 0; group < workload.sharedPrefix.groups; ++group) {
            RandomStream random(workload.seed, Draw::PrefixText, static_cast<std::uint64_t>(group));
            prefixes.push_back(writer.begin(random, length));
        }
    }
    RandomStream stream(Draw purpose, std::int64_t number) const {
        return {workload.seed, purpose, static_cast<std::uint64_t>(number)};
    }

    Workload workload;
    PromptWriter writer;
    std::vector<WrittenPrompt> prefixes;  ///< by group
};

RequestPlanner::RequestPlanner(const Workload& workload, const engine::Text& text)
    : m_state(std::make_unique<const State>(workload, text)) {}

RequestPlanner::~RequestPlanner() = default;

const Workload& RequestPlanner::workload() const { return m_state->workload; }

std::pair<std::int64_t, std::int64_t> RequestPlanner::lengths(std::int64_t number) const {
    return {tokens(m_state->workload.promptTokens, m_state->stream(Draw::PromptLength, number)),
            tokens(m_state->workload.outputTokens, m_state->stream(Draw::OutputLength, number))};
}

double RequestPlanner::gapSeconds(std::int64_t number) const {
    const Arrivals& arrivals = m_state->workload.arrivals;
    RandomStream random = m_state->stream(Draw::Arrival, number);
    switch (arrivals.kind) {
        case ArrivalKind::Constant:
            return number == 1 ? 0 : 1 / arrivals.ratePerS;
        case ArrivalKind::Poisson:
            return random.exponential() / arrivals.ratePerS;
        case ArrivalKind::Gamma:
            return random.gamma(arrivals.shape) / (arrivals.shape * arrivals.ratePerS);
        case ArrivalKind::Closed:
            break;
    }
    return 0;
}

PlannedRequest RequestPlanner::request(std::int64_t number) const {
    const Workload& workload = m_state->workload;
    const auto [promptTokens, outputTokens] = lengths(number);
    PlannedRequest request;
    request.number = number;
    request.outputTokens = outputTokens;
    request.samplingSeed = m_state->stream(Draw::Sampling, number).bits();
    if (m_state->stream(Draw::HangsUp, number).uniform() < workload.hangUpShare) {
        // Before the answer's end, where there is a before.
        const auto choices = static_cast<std::uint64_t>(std::max<std::int64_t>(outputTokens - 1, 1));
        request.hangUpAfter = 1 + static_cast<std::int64_t>(m_state->stream(Draw::HangUpToken, number).below(choices));
    }
    if (workload.arrivals.kind == ArrivalKind::Closed && workload.arrivals.thinkS > 0) {
        const bool fixed = workload.arrivals.think == ThinkKind::Fixed;
        const double factor = fixed ? 1 : m_state->stream(Draw::Think, number).exponential();
        request.thinkNs = std::llround(workload.arrivals.thinkS * factor * nsPerS);
    }
    RandomStream random = m_state->stream(Draw::PromptText, number);
    if (m_state->stream(Draw::SharesPrefix, number).uniform() >= workload.sharedPrefix.share) {
        WrittenPrompt prompt = m_state->writer.write(random, promptTokens);
        request.prompt = std::move(prompt.tokens);
        request.text = std::move(prompt.text);
        return request;
    }
    const auto groups = static_cast<std::uint64_t>(workload.sharedPrefix.groups);
    request.prefixGroup = static_cast<std::int64_t>(m_state->stream(Draw::PrefixGroup, number).below(groups));
    WrittenPrompt prompt = m_state->prefixes[static_cast<std::size_t>(request.prefixGroup)];
    const std::int64_t own =
        promptTokens - static_cast<std::int64_t>(prompt.tokens.size()) - m_state->writer.tokensAtEnd();
    if (own > 0) {
        m_state->writer.extend(prompt, random, own);
        m_state->writer.finish(prompt);
    } else {  // a short prompt is a beginning of the prefix
        RandomStream again(workload.seed, Draw::PrefixText, static_cast<std::uint64_t>(request.prefixGroup));
        prompt = m_state->writer.write(again, promptTokens);
    }
    request.prompt = std::move(prompt.tokens);
    request.text = std::move(prompt.text);
    return request;
}

namespace {

Error overContext(std::int64_t number, std::int64_t prompt, std::int64_t output, std::int64_t context) {
    return {ErrorCode::DoesNotFit,
            fmt::format("request {} has {} prompt and {} output tokens, {} together; the context has room for {}",
                        number, prompt, output, prompt + output, context)};
}

Error overPlan(std::int64_t number) {
    return {ErrorCode::DoesNotFit,
            fmt::format("the prompts of the first {} requests alone have more than {} million tokens, the most that is "
                        "planned: give fewer requests, or shorter ones",
                        number, mostPlannedTokens / 1'000'000)};
}

/// Planned times of an open loop, as long as the limits allow.
std::vector<Nanoseconds> openTimes(const RequestPlanner& planner) {
    const Workload& workload = planner.workload();
    std::vector<Nanoseconds> times;
    const auto most = static_cast<std::size_t>(workload.requests.value_or(mostRequests));
    double at = 0;
    while (times.size() < most) {
        at += planner.gapSeconds(static_cast<std::int64_t>(times.size()) + 1);
        if (workload.durationS && at >= *workload.durationS) break;
        times.push_back(std::llround(at * nsPerS));
    }
    return times;
}

/// Something must be planned, and something after the warm-up.
engine::Status checkTimes(const Workload& workload, const std::vector<Nanoseconds>& times) {
    if (times.empty()) {
        return Error{ErrorCode::BadInput, "no request comes within the workload's duration_s: give a longer one"};
    }
    const auto count = static_cast<std::int64_t>(times.size());
    if (workload.warmup.requests >= count) {
        return Error{ErrorCode::BadInput, fmt::format("warm_up.requests ({}) leaves none of the {} requests that come",
                                                      workload.warmup.requests, count)};
    }
    if (static_cast<double>(times.back()) < workload.warmup.seconds * nsPerS) {
        return Error{ErrorCode::BadInput,
                     fmt::format("warm_up.seconds ({}) leaves no request: the last comes after {:.3g} s",
                                 workload.warmup.seconds, static_cast<double>(times.back()) / nsPerS)};
    }
    return engine::Done{};
}

}  // namespace

Result<RequestPlan> makeRequestPlan(const Workload& workload, const engine::Text& text, std::int64_t contextTokens) {
    if (const auto fault = checkWorkload(workload); !fault) return fault.error();
    const auto planner = std::make_shared<const RequestPlanner>(workload, text);
    RequestPlan plan;
    plan.workload = workload;
    std::vector<Nanoseconds> times;
    std::int64_t count = workload.requests.value_or(0);
    if (workload.arrivals.isOpen()) {
        times = openTimes(*planner);
        count = static_cast<std::int64_t>(times.size());
        if (const auto some = checkTimes(workload, times); !some) return some.error();
    } else if (!workload.requests) {
        plan.more = planner;
        count = 2 * workload.arrivals.clients;
    }
    // Before any is made: refusing must be cheap. Those that are made while the load runs are looked at too.
    std::int64_t planned = 0;
    for (std::int64_t number = 1; number <= (plan.more ? mostCheckedAhead : count); ++number) {
        const auto [prompt, output] = planner->lengths(number);
        if (prompt + output > contextTokens) return overContext(number, prompt, output, contextTokens);
        planned += number <= count ? prompt : 0;
        if (planned > mostPlannedTokens) return overPlan(number);
    }
    plan.requests.reserve(static_cast<std::size_t>(count));
    for (std::int64_t number = 1; number <= count; ++number) {
        plan.requests.push_back(planner->request(number));
        if (!times.empty()) plan.requests.back().plannedNs = times[static_cast<std::size_t>(number - 1)];
    }
    return plan;
}

}  // namespace firsttoken::sessions
