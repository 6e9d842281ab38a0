#include "sessions/metrics/measured_window.h"

#include <algorithm>

namespace firsttoken::sessions {

namespace {

std::optional<std::int64_t> lastMark(const SessionData& session, MarkKind kind) {
    std::optional<std::int64_t> at;
    for (const MarkRecord& mark : session.marks) {
        if (mark.kind == kind) at = std::max(at.value_or(mark.atNs), mark.atNs);
    }
    return at;
}

std::int64_t lastTimeOf(const RequestRecord& request) {
    std::int64_t last = request.plannedNs;
    for (const auto& time :
         {request.sentNs, request.scheduledNs, request.prefillEndNs, request.firstTokenNs, request.endNs}) {
        last = std::max(last, time.value_or(last));
    }
    return request.deltaNs.empty() ? last : std::max(last, request.deltaNs.back());
}

}  // namespace

std::optional<std::int64_t> elapsedNs(std::int64_t earlier, std::int64_t later) {
    std::int64_t elapsed = 0;
    if (__builtin_sub_overflow(later, earlier, &elapsed) || elapsed < 0) return std::nullopt;
    return elapsed;
}

SessionExtent extentOf(const SessionData& session) {
    std::optional<SessionExtent> extent;
    const auto include = [&extent](std::int64_t first, std::int64_t last) {
        if (!extent) extent = SessionExtent{first, last};
        extent->firstNs = std::min(extent->firstNs, first);
        extent->lastNs = std::max(extent->lastNs, last);
    };
    for (const RequestRecord& request : session.requests) include(request.plannedNs, lastTimeOf(request));
    for (const SampleRecord& sample : session.samples) include(sample.atNs, sample.atNs);
    return extent.value_or(SessionExtent{});
}

MeasuredWindow measuredWindow(const SessionData& session) {
    const SessionExtent extent = extentOf(session);
    MeasuredWindow window;
    window.warmupEndNs = lastMark(session, MarkKind::WarmupEnd);
    // A load begins at the axis' zero, whenever its first request comes; a chat with its first question.
    window.startNs = window.warmupEndNs.value_or(session.header.kind == SessionKind::Load ? 0 : extent.firstNs);
    window.endNs = lastMark(session, MarkKind::LoadEnd).value_or(extent.lastNs);
    window.endNs = std::max(window.endNs, window.startNs);
    return window;
}

std::optional<double> MeasuredWindow::seconds() const {
    const auto length = elapsedNs(startNs, endNs);
    if (!length || *length == 0) return std::nullopt;
    return static_cast<double>(*length) / 1e9;
}

}  // namespace firsttoken::sessions
