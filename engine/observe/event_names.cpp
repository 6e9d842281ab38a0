#include "engine/events.h"

namespace firsttoken::engine {

std::string_view toString(RequestState state) {
    switch (state) {
        case RequestState::Queued:
            return "queued";
        case RequestState::Prefilling:
            return "prefilling";
        case RequestState::Decoding:
            return "decoding";
        case RequestState::Finished:
            return "finished";
    }
    return "unknown";
}

std::string_view toString(FinishReason reason) {
    switch (reason) {
        case FinishReason::None:
            return "none";
        case FinishReason::Stop:
            return "stop";
        case FinishReason::Length:
            return "length";
        case FinishReason::Cancelled:
            return "cancelled";
        case FinishReason::Rejected:
            return "rejected";
        case FinishReason::Error:
            return "error";
    }
    return "unknown";
}

std::string_view toString(Stage stage) {
    switch (stage) {
        case Stage::ClientLag:
            return "client_lag";
        case Stage::Gateway:
            return "gateway";
        case Stage::Auth:
            return "auth";
        case Stage::Retrieval:
            return "retrieval";
        case Stage::Rerank:
            return "rerank";
        case Stage::Prompt:
            return "prompt";
        case Stage::Route:
            return "route";
        case Stage::Queue:
            return "queue";
        case Stage::Prefill:
            return "prefill";
        case Stage::Decode:
            return "decode";
        case Stage::Moderation:
            return "moderation";
        case Stage::Stream:
            return "stream";
    }
    return "unknown";
}

}  // namespace firsttoken::engine
