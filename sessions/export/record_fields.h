#pragma once

#include <cstdint>
#include <limits>

#include "sessions/session_records.h"

/// Every field of the records, once, with its exported name and range: what writes and what reads them are visitors.
/// A visitor has integer(name, value, least, most), real, text, flag, name (an enumeration), times and json (a text
/// that is itself JSON); values may be optional.
namespace firsttoken::sessions {

/// About 30 years. No difference of two times, and no sum of many counts, leaves 64 bits.
inline constexpr std::int64_t kMostNs = 1'000'000'000'000'000'000;
inline constexpr std::int64_t kMostCount = 1'000'000'000'000;

template <class Visitor, class Header>
void visitHeader(Visitor& v, Header& h) {
    v.integer("id", h.id, 0, std::numeric_limits<std::int64_t>::max());
    v.name("kind", h.kind);
    v.name("state", h.state);
    v.real("started_at", h.startedAt);
    v.real("ended_at", h.endedAt);
    v.integer("clock_start_ns", h.clockStartNs, -kMostNs, kMostNs);
    v.text("title", h.title);
    v.text("note", h.note);
    v.flag("starred", h.starred);
    v.text("failure", h.failure);
    v.text("model_path", h.modelPath);
    v.text("model_name", h.modelName);
    v.text("architecture", h.architecture);
    v.text("model_format", h.modelFormat);
    v.unsignedInteger("model_bytes", h.modelBytes);
    v.text("model_sha256", h.modelHash);
    v.text("profile_name", h.profileName);
    v.json("requested_profile", h.requestedProfile);
    v.json("effective_profile", h.effectiveProfile);
    v.json("profile_changes", h.profileChanges);
    v.text("arithmetic", h.arithmetic);
    v.text("isa", h.isa);
    v.json("workload", h.workload);
    v.unsignedInteger("seed", h.seed);
    v.json("machine", h.machine);
    v.text("build", h.build);
    v.text("driver", h.driver);
}

template <class Visitor, class Record>
void visitRequest(Visitor& v, Record& r) {
    v.integer("number", r.number, 1, kMostCount);
    v.integer("planned_ns", r.plannedNs, -kMostNs, kMostNs);
    v.integer("sent_ns", r.sentNs, -kMostNs, kMostNs);
    v.integer("scheduled_ns", r.scheduledNs, -kMostNs, kMostNs);
    v.integer("prefill_end_ns", r.prefillEndNs, -kMostNs, kMostNs);
    v.integer("first_token_ns", r.firstTokenNs, -kMostNs, kMostNs);
    v.integer("end_ns", r.endNs, -kMostNs, kMostNs);
    v.integer("prompt_tokens", r.promptTokens, 0, kMostCount);
    v.integer("cached_tokens", r.cachedTokens, 0, kMostCount);
    v.integer("output_tokens", r.outputTokens, 0, kMostCount);
    v.integer("preemptions", r.preemptions, 0, kMostCount);
    v.name("finish_reason", r.reason);
    v.text("detail", r.detail);
    v.text("tier", r.tier);
    v.text("routing_reason", r.routingReason);
    v.integer("prefix_group", r.prefixGroup, -1, kMostCount);
    v.flag("hung_up", r.hungUp);
    v.times("delta_ns", r.deltaNs);
    v.text("prompt", r.prompt);
    v.text("output", r.output);
}

template <class Visitor, class Record>
void visitSpan(Visitor& v, Record& s) {
    v.integer("request", s.request, 0, kMostCount);
    v.name("stage", s.stage);
    v.integer("start_ns", s.startNs, -kMostNs, kMostNs);
    v.integer("end_ns", s.endNs, -kMostNs, kMostNs);
}

template <class Visitor, class Record>
void visitSample(Visitor& v, Record& s) {
    v.integer("at_ns", s.atNs, -kMostNs, kMostNs);
    v.integer("queued", s.queued, 0, kMostCount);
    v.integer("prefilling", s.prefilling, 0, kMostCount);
    v.integer("decoding", s.decoding, 0, kMostCount);
    v.integer("blocks_total", s.blocksTotal, 0, kMostCount);
    v.integer("blocks_referenced", s.blocksReferenced, 0, kMostCount);
    v.integer("blocks_cached", s.blocksCached, 0, kMostCount);
    v.real("prefill_tokens_per_s", s.prefillTokensPerS);
    v.real("decode_tokens_per_s", s.decodeTokensPerS);
    v.real("device_use_fraction", s.deviceUse);
    v.real("process_cpu_cores", s.processCpu);
    v.real("machine_cpu_fraction", s.machineCpu);
    v.integer("resident_bytes", s.residentBytes, 0, kMostNs);
    v.integer("available_bytes", s.availableBytes, 0, kMostNs);
    v.integer("major_faults", s.majorFaults, 0, kMostCount);
    v.real("achieved_gb_per_s", s.achievedGbPerS);
    v.real("achieved_top_per_s", s.achievedTopPerS);
    v.real("power_watts", s.watts);
}

template <class Visitor, class Record>
void visitMark(Visitor& v, Record& m) {
    v.integer("at_ns", m.atNs, -kMostNs, kMostNs);
    v.name("kind", m.kind);
    v.text("text", m.text);
}

}  // namespace firsttoken::sessions
