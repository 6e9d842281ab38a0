#include "sessions/report/row_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/statistics.h"
#include "sessions/report/mark_lines.h"
#include "sessions/report/quantities.h"

namespace firsttoken::sessions {

namespace {

constexpr std::int64_t mostStretches = 40;
constexpr std::size_t allRequests = 200;  ///< up to here every request is listed
constexpr std::size_t mostSlow = 100, mostFailed = 50;
constexpr std::size_t mostMarks = 200;
constexpr std::size_t mostTurns = 200, mostTextCharacters = 4000, detailCharacters = 200;

void headRow(Markup& html, std::initializer_list<const char*> names, std::size_t textColumns) {
    html.open("thead").open("tr");
    std::size_t at = 0;
    for (const char* name : names) {
        html.element("th", name, {{"scope", "col"}, {"class", at++ < textColumns ? "" : "number"}});
    }
    html.close().close();
}

/// TTFTs of the requests planned in each stretch, ms.
std::vector<std::vector<double>> ttftByStretch(const SessionView& view, const Timeline& stretches) {
    std::vector<std::vector<double>> values(stretches.buckets.size());
    if (values.empty()) return values;
    const auto start = static_cast<double>(stretches.buckets.front().startNs);
    for (const RequestRecord& request : view.data->requests) {
        const auto ttft = view.ttftMs(request);
        const double place = (static_cast<double>(request.plannedNs) - start) / static_cast<double>(stretches.bucketNs);
        if (!ttft || !(place >= 0) || place >= static_cast<double>(values.size())) continue;
        values[static_cast<std::size_t>(place)].push_back(*ttft);
    }
    return values;
}

class RowWriter {
public:
    explicit RowWriter(Markup& html) : m_html(html) {}
    void number(std::string_view text) { m_html.element("td", text, {{"class", "number"}}); }
    void number(std::optional<double> value) { number(value ? formatNumber(*value) : std::string("–")); }
    void share(std::optional<double> value) { number(value ? std::optional(*value * 100) : std::nullopt); }
    void count(std::int64_t value) { number(formatCount(value)); }

private:
    Markup& m_html;
};

void requestRow(Markup& html, const SessionView& view, const RequestRecord& request) {
    const RequestLatencies times = latenciesOf(request, view.yardstick.streaming);
    RowWriter row(html);
    html.open("tr");
    row.count(request.number);
    row.number(secondsOf(request.plannedNs));
    std::string end(request.reason == engine::FinishReason::None ? "unfinished" : toString(request.reason));
    if (request.hungUp) end += ", client left";
    if (view.kindOf(request) == RequestKind::Warmup) end += ", warm-up";
    html.element("td", end, {{"class", view.kindOf(request) == RequestKind::Failed ? "end bad" : "end"}});
    row.count(request.promptTokens);
    row.count(request.cachedTokens);
    row.count(request.outputTokens);
    row.number(times.queue);
    row.number(times.ttft);
    row.number(times.tpot);
    row.number(times.e2e);
    std::string detail = request.detail;
    if (request.preemptions > 0) {
        detail += fmt::format("{}preempted {}×", detail.empty() ? "" : "; ", request.preemptions);
    }
    if (!request.tier.empty()) {
        detail += fmt::format("{}{}: {}", detail.empty() ? "" : "; ", request.tier, request.routingReason);
    }
    html.element("td", shortened(detail, detailCharacters), {{"class", "detail"}});
    html.close();
}

void requestTable(Markup& html, const SessionView& view, const std::vector<const RequestRecord*>& requests) {
    html.open("div", {{"class", "scroll"}}).open("table", {{"class", "rows"}}).open("thead").open("tr");
    const std::pair<const char*, const char*> names[] = {{"#", "number"},
                                                         {"planned, s", "number"},
                                                         {"end", ""},
                                                         {"prompt, tokens", "number"},
                                                         {"cached, tokens", "number"},
                                                         {"output, tokens", "number"},
                                                         {"queue, ms", "number"},
                                                         {"TTFT, ms", "number"},
                                                         {"TPOT, ms", "number"},
                                                         {"E2E, ms", "number"},
                                                         {"detail", ""}};
    for (const auto& [name, cssClass] : names) html.element("th", name, {{"scope", "col"}, {"class", cssClass}});
    html.close().close().open("tbody");
    for (const RequestRecord* request : requests) requestRow(html, view, *request);
    html.close().close().close();
}

}  // namespace

void writeTimelineTable(Markup& html, const SessionView& view) {
    if (view.timeline.buckets.empty()) return;
    const double spanNs = (view.endS - view.startS) * 1e9;
    const double stretchNs = std::clamp(spanNs / mostStretches, 2e8, 4e18);
    const Timeline stretches = timeline(*view.data, static_cast<std::int64_t>(stretchNs));
    const auto ttfts = ttftByStretch(view, stretches);
    html.open("details").element("summary", "The chart's values as a table");
    html.open("div", {{"class", "scroll"}}).open("table", {{"class", "rows"}});
    headRow(html,
            {"from, s", "planned", "ended", "TTFT p50, ms", "TTFT max, ms", "output, tok/s", "prompts, tok/s", "queued",
             "prefilling", "decoding", "KV referenced, %", "KV cached, %", "device use, %", "machine CPU, %",
             "memory read, GB/s", "power, W"},
            0);
    html.open("tbody");
    RowWriter row(html);
    for (std::size_t i = 0; i < stretches.buckets.size() && i < 2 * mostStretches; ++i) {
        const TimelineBucket& bucket = stretches.buckets[i];
        html.open("tr");
        row.number(secondsOf(bucket.startNs));
        row.count(bucket.started);
        row.count(bucket.ended);
        row.number(engine::median(ttfts[i]));
        row.number(engine::percentile(ttfts[i], 1));
        row.number(bucket.outputTokensPerS);
        row.number(bucket.promptTokensPerS);
        row.number(bucket.queued);
        row.number(bucket.prefilling);
        row.number(bucket.decoding);
        row.share(bucket.kvReferencedFraction);
        row.share(bucket.kvCachedFraction);
        row.share(bucket.deviceUse);
        row.share(bucket.machineCpu);
        row.number(bucket.achievedGbPerS);
        row.number(bucket.watts);
        html.close();
    }
    html.close().close().close();
    html.element("p", "Means over each stretch of time; – is not measured.", {{"class", "note"}}).close();
}

void writeRequests(Markup& html, const SessionView& view) {
    const auto& all = view.data->requests;
    if (all.empty()) {
        html.element("p", "No request was made.", {{"class", "note"}});
        return;
    }
    std::vector<const RequestRecord*> listed;
    for (const RequestRecord& request : all) listed.push_back(&request);
    if (all.size() <= allRequests) {
        requestTable(html, view, listed);
        return;
    }
    const auto slowness = [&](const RequestRecord* request) {
        return view.ttftMs(*request).value_or(-std::numeric_limits<double>::infinity());
    };
    std::vector<std::pair<double, const RequestRecord*>> slow;
    std::vector<const RequestRecord*> failed;
    for (const RequestRecord* request : listed) {
        slow.emplace_back(slowness(request), request);
        if (failed.size() < mostFailed && view.kindOf(*request) == RequestKind::Failed) failed.push_back(request);
    }
    std::partial_sort(slow.begin(), slow.begin() + mostSlow, slow.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second->number < b.second->number;
    });
    listed.clear();
    for (std::size_t i = 0; i < mostSlow; ++i) listed.push_back(slow[i].second);
    html.element("p", fmt::format("The {} slowest by TTFT of {} requests. An export of the session (CSV or JSON) holds "
                                  "all of them.",
                                  mostSlow, formatCount(static_cast<std::int64_t>(all.size()))));
    requestTable(html, view, listed);
    if (failed.empty()) return;
    html.element(
        "p", failed.size() < mostFailed ? "All that failed:" : fmt::format("The first {} that failed:", mostFailed));
    requestTable(html, view, failed);
}

void writeMarks(Markup& html, const SessionView& view) {
    const auto& marks = view.data->marks;
    if (marks.empty()) return;
    html.element("h3", "Marks").open("ul", {{"class", "marks"}});
    for (std::size_t i = 0; i < std::min(marks.size(), mostMarks); ++i) {
        html.element("li", fmt::format("{} · {}", formatValue(secondsOf(marks[i].atNs), "s"), markText(marks[i])));
    }
    html.close();
    if (marks.size() > mostMarks) {
        html.element("p", fmt::format("The first {} of {}.", mostMarks, marks.size()), {{"class", "note"}});
    }
}

void writeConversation(Markup& html, const SessionView& view) {
    const auto& requests = view.data->requests;
    const auto kept = [](const RequestRecord& request) { return !request.prompt.empty() || !request.output.empty(); };
    if (view.data->header.kind != SessionKind::Chat || std::none_of(requests.begin(), requests.end(), kept)) return;
    html.element("h3", "Conversation").open("div", {{"class", "conversation"}});
    std::size_t turns = 0;
    for (const RequestRecord& request : requests) {
        if (!kept(request)) continue;
        if (++turns > mostTurns) break;
        html.element("p", shortened(request.prompt, mostTextCharacters), {{"class", "asked"}, {"dir", "auto"}});
        html.element("p", shortened(request.output, mostTextCharacters), {{"class", "answered"}, {"dir", "auto"}});
        html.element(
            "p",
            fmt::format("TTFT {} · {} prompt ({} cached) · {} output · {}", formatValue(view.ttftMs(request), "ms"),
                        formatCount(request.promptTokens), formatCount(request.cachedTokens),
                        formatCount(request.outputTokens), toString(request.reason)),
            {{"class", "note"}});
    }
    html.close();
}

}  // namespace firsttoken::sessions
