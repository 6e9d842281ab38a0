#include <string>

#include "engine/schedule/scheduler.h"

namespace firsttoken::engine {

Error toError(const Rejection& rejection) {
    const std::string asked = std::to_string(rejection.asked);
    const std::string limit = std::to_string(rejection.limit);
    switch (rejection.reason) {
        case RejectReason::EmptyPrompt:
            return {ErrorCode::BadInput, "the prompt has no tokens"};
        case RejectReason::DuplicateId:
            return {ErrorCode::BadInput, "request " + asked + " is in the engine already"};
        case RejectReason::PromptOverContext:
            return {ErrorCode::DoesNotFit, "the prompt has " + asked + " tokens; the context leaves room for " + limit +
                                               " and one token of output"};
        case RejectReason::PromptOverBatch:
            return {ErrorCode::DoesNotFit, "the prompt has " + asked +
                                               " tokens; without chunked prefill a step takes " + limit +
                                               " (max_batch_tokens)"};
        case RejectReason::NeverFitsKv:
            return {ErrorCode::DoesNotFit,
                    "the request's " + std::to_string(rejection.tokens) + " tokens of prompt and output need " + asked +
                        " KV blocks in layer group " + std::to_string(rejection.group) + ", which has " + limit};
        case RejectReason::QueueFull:
            return {ErrorCode::Rejected, "the queue is full: " + limit + " requests are waiting (max_queue)"};
    }
    return {ErrorCode::Internal, "refused for an unknown reason"};
}

}  // namespace firsttoken::engine
