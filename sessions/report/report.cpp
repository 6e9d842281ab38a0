#include "sessions/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sessions/load/workload.h"
#include "sessions/models/files.h"
#include "sessions/report/chart_scales.h"
#include "sessions/report/comparison_section.h"
#include "sessions/report/distribution_chart.h"
#include "sessions/report/drawing.h"
#include "sessions/report/markup.h"
#include "sessions/report/metric_tables.h"
#include "sessions/report/quantities.h"
#include "sessions/report/recipe.h"
#include "sessions/report/row_tables.h"
#include "sessions/report/session_view.h"
#include "sessions/report/style_sheet.h"
#include "sessions/report/time_chart.h"

namespace firsttoken::sessions {

namespace {

constexpr std::size_t titleCharacters = 200;

/// Sessions of the two arms, by their place.
struct Arms {
    std::vector<std::size_t> a, b;
};

std::optional<Arms> armsOf(std::span<const SessionData> sessions) {
    if (sessions.size() < 2) return std::nullopt;
    Arms arms;
    const std::string& first = sessions.front().header.effectiveProfile;
    const std::string* second = nullptr;
    for (std::size_t i = 0; i < sessions.size(); ++i) {
        const SessionHeader& header = sessions[i].header;
        if (header.kind != SessionKind::Load) return std::nullopt;
        if (header.effectiveProfile == first) {
            arms.a.push_back(i);
            continue;
        }
        if (second != nullptr && header.effectiveProfile != *second) return std::nullopt;
        second = &header.effectiveProfile;
        arms.b.push_back(i);
    }
    if (arms.b.empty() && sessions.size() == 2) return Arms{{0}, {1}};
    return arms.b.empty() ? std::nullopt : std::optional(arms);
}

Comparison compareArms(std::span<const SessionData> sessions, const Arms& arms) {
    const auto pick = [&](const std::vector<std::size_t>& places) {
        std::vector<SessionData> picked;
        for (const std::size_t place : places) picked.push_back(sessions[place]);
        return picked;
    };
    return compare(pick(arms.a), pick(arms.b));
}

/// "A, C".
std::string lettersOf(const std::vector<std::size_t>& places, std::span<const SessionView> views) {
    std::string letters;
    for (const std::size_t place : places) letters += (letters.empty() ? "" : ", ") + views[place].label;
    return letters;
}

/// Where the sessions of an arm lie among those of the report.
std::vector<std::size_t> placesOf(const ArmFacts& arm, std::span<const SessionView> views) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < views.size(); ++i) {
        const SessionId id = views[i].data->header.id;
        if (std::find(arm.sessions.begin(), arm.sessions.end(), id) != arm.sessions.end()) places.push_back(i);
    }
    return places;
}

void writeArms(Markup& html, std::span<const SessionData> sessions, std::span<const SessionView> views,
               const std::optional<Comparison>& given) {
    if (given) {
        const Arms arms{placesOf(given->armA, views), placesOf(given->armB, views)};
        writeComparison(html, *given, lettersOf(arms.a, views), lettersOf(arms.b, views));
    } else if (const auto found = armsOf(sessions)) {
        writeComparison(html, compareArms(sessions, *found), lettersOf(found->a, views), lettersOf(found->b, views));
    }
}

std::string join(std::initializer_list<std::string> parts) {
    std::string all;
    for (const std::string& part : parts) {
        if (!part.empty()) all += (all.empty() ? "" : " · ") + part;
    }
    return all;
}

/// What a session was, in two muted lines.
void writeLead(Markup& html, const SessionView& view) {
    const SessionHeader& header = view.data->header;
    const std::string ended = header.endedAt && *header.endedAt >= header.startedAt
                                  ? formatSeconds(*header.endedAt - header.startedAt)
                                  : std::string();
    html.element("p",
                 join({header.kind == SessionKind::Load ? "Load session" : "Chat",
                       header.startedAt > 0 ? formatMoment(header.startedAt) : std::string(), ended,
                       std::string(toString(header.state))}),
                 {{"class", "lead"}});
    html.element(
        "p",
        join({header.modelName, header.modelFormat, header.profileName.empty() ? "" : "profile " + header.profileName,
              header.seed ? fmt::format("seed {}", *header.seed) : std::string()}),
        {{"class", "lead"}});
    if (const auto workload = parseWorkload(header.workload)) {
        html.element("p", describeWorkload(*workload), {{"class", "lead"}});
    }
    if (!header.failure.empty()) html.element("p", header.failure, {{"class", "failure"}});
    if (header.state == SessionState::Interrupted) {
        html.element("p", "The program ended before the session did: what came last may be missing.",
                     {{"class", "failure"}});
    }
    if (!header.note.empty()) html.element("p", "Note: " + header.note);
}

void writeSession(Markup& html, const SessionView& view, const ChartScales& scales, std::size_t index, bool several) {
    const std::string id = fmt::format("session-{}", index + 1);
    html.open("section", {{"class", index == 0 ? "session first" : "session"}, {"id", id}});
    if (several) html.element("h2", shortened(view.name(), titleCharacters));
    writeLead(html, view);
    writeFigures(html, view);
    html.element("h3", "Over time");
    drawTimeChart(html, view, scales, id + "-time");
    writeTimelineTable(html, view);
    writeMarks(html, view);
    if (!several) {
        html.element("h3", "Distributions");
        drawDistributions(html, std::span(&view, 1), id + "-distributions");
    }
    writeConversation(html, view);
    html.element("h3", "Metrics");
    writeMetrics(html, view);
    html.element("h3", "Requests");
    writeRequests(html, view);
    html.element("h3", "Recipe");
    writeRecipe(html, view);
    html.close();
}

void writeOverview(Markup& html, std::span<const SessionData> sessions, std::span<const SessionView> views,
                   const ReportOptions& options) {
    html.open("ul");
    for (std::size_t i = 0; i < views.size(); ++i) {
        html.open("li").element("a", shortened(views[i].name(), titleCharacters),
                                {{"href", fmt::format("#session-{}", i + 1)}});
        const SessionHeader& header = views[i].data->header;
        html.element("span",
                     join({header.startedAt > 0 ? formatMoment(header.startedAt) : std::string(), header.modelName,
                           header.profileName.empty() ? "" : "profile " + header.profileName,
                           header.seed ? fmt::format("seed {}", *header.seed) : std::string()}),
                     {{"class", "note"}});
        html.close();
    }
    html.close();
    writeArms(html, sessions, views, options.comparison);
    html.open("section").element("h2", "Side by side");
    html.element("p", "Percentiles in ms with their 95 % intervals.", {{"class", "note"}});
    writeSideBySide(html, views);
    html.element("h3", "Distributions");
    drawDistributions(html, views, "distributions");
    html.close();
}

void writeWords(Markup& html) {
    const std::pair<const char*, const char*> words[] = {
        {"TTFT", "time to first token: planned arrival of a request to the first text at the client, queue included"},
        {"ITL", "inter-token latency: gap between text deltas of one request"},
        {"TPOT", "time per output token: (end − first text) / (output tokens − 1)"},
        {"E2E", "planned arrival to last text"},
        {"SLO", "limits that a request must meet, and targets that a session must meet"},
        {"Goodput", "requests per second that met every limit"},
        {"KV blocks", "memory for keys and values: referenced by running sequences, cached for prefixes, or free"},
        {"Prefix hits", "prompt tokens taken from the prefix cache / prompt tokens"},
        {"Device use", "time in engine steps / wall time"},
    };
    html.element("h2", "Words").open("dl", {{"class", "words"}});
    for (const auto& [word, meaning] : words) html.element("dt", word).element("dd", meaning);
    html.close();
}

void writeHead(Markup& html, std::string_view title) {
    html.open("head").leaf("meta", {{"charset", "utf-8"}}).element("title", title);
    html.leaf("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    html.leaf("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
    html.leaf("meta", {{"http-equiv", "Content-Security-Policy"},
                       {"content", "default-src 'none'; style-src 'unsafe-inline'"}});
    html.open("style").verbatim(reportStyle()).close().close();
}

}  // namespace

std::string renderReport(std::span<const SessionData> sessions, const ReportOptions& options) {
    std::vector<SessionView> views;
    for (std::size_t i = 0; i < sessions.size(); ++i) views.push_back(viewOf(sessions[i], i, sessions.size() > 1));
    const bool several = views.size() > 1;
    const std::string title = views.empty() ? "No session"
                              : several     ? fmt::format("{} sessions", views.size())
                                            : shortened(views.front().title, titleCharacters);

    Markup html;
    html.verbatim("<!DOCTYPE html>\n").open("html", {{"lang", "en"}});
    writeHead(html, title + " · Firsttoken");
    html.open("body");
    drawPatterns(html);
    html.open("main").element("h1", title);
    if (views.empty()) html.element("p", "There is nothing to report.");
    if (several) writeOverview(html, sessions, views, options);
    const ChartScales scales = chartScales(views);
    for (std::size_t i = 0; i < views.size(); ++i) writeSession(html, views[i], scales, i, several);
    writeWords(html);
    const std::string when = options.writtenAt ? " on " + formatMoment(*options.writtenAt) : std::string();
    html.open("footer").element("p", "Written by Firsttoken" + when + ". All times count from the start of a session.",
                                {{"class", "note"}});
    html.close().close().close().close();
    return html.take();
}

engine::Status writeReport(const std::string& path, std::span<const SessionData> sessions,
                           const ReportOptions& options) {
    return writeWholeFile(path, renderReport(sessions, options));
}

}  // namespace firsttoken::sessions
