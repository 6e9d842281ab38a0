#include "sessions/store/record_names.h"

namespace firsttoken::sessions {

namespace {

/// The first of first … last with that name.
template <class E>
std::optional<E> named(std::string_view name, E last) {
    for (int i = 0; i <= static_cast<int>(last); ++i) {
        if (toString(static_cast<E>(i)) == name) return static_cast<E>(i);
    }
    return std::nullopt;
}

}  // namespace

std::string_view toString(SessionKind kind) {
    switch (kind) {
        case SessionKind::Chat:
            return "chat";
        case SessionKind::Load:
            return "load";
    }
    return "unknown";
}

std::string_view toString(SessionState state) {
    switch (state) {
        case SessionState::Running:
            return "running";
        case SessionState::Completed:
            return "completed";
        case SessionState::Cancelled:
            return "cancelled";
        case SessionState::Failed:
            return "failed";
        case SessionState::Interrupted:
            return "interrupted";
    }
    return "unknown";
}

std::string_view toString(MarkKind kind) {
    switch (kind) {
        case MarkKind::WarmupEnd:
            return "warmup_end";
        case MarkKind::SteadyEnd:
            return "steady_end";
        case MarkKind::LoadEnd:
            return "load_end";
        case MarkKind::ProfileChange:
            return "profile_change";
        case MarkKind::Cancel:
            return "cancel";
        case MarkKind::Chat:
            return "chat";
        case MarkKind::Note:
            return "note";
    }
    return "unknown";
}

std::optional<SessionKind> sessionKindOf(std::string_view name) { return named(name, SessionKind::Load); }
std::optional<SessionState> sessionStateOf(std::string_view name) { return named(name, SessionState::Interrupted); }
std::optional<MarkKind> markKindOf(std::string_view name) { return named(name, MarkKind::Note); }
std::optional<engine::FinishReason> finishReasonOf(std::string_view name) {
    return named(name, engine::FinishReason::Error);
}
std::optional<engine::Stage> stageOf(std::string_view name) { return named(name, engine::Stage::Stream); }

}  // namespace firsttoken::sessions
